// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/frames/numbered_frames.hpp"

#include <cstring>

namespace tutti::frames {

// A peer that does not read holds up no more buffers than these.
constexpr uint32_t kFramesOut = 64;

NumberedFrames::NumberedFrames(Owner& owner, Requests& requests, RailLosses& rails, int rank,
                               int ranks, uint32_t cookie)
    : owner_(owner),
      requests_(requests),
      rails_(rails),
      rank_(rank),
      cookie_(cookie),
      keeps_(requests.port().rails() > 1 && requests.port().tells_of_breaks()),
      peers_(static_cast<size_t>(ranks)) {}

// ---- out ----

void NumberedFrames::add_notice(int rank, FrameKind kind, uint64_t id, Tag tag, uint64_t upto) {
  FrameHead head{};
  head.kind = kind;
  head.id = id;
  head.tag = tag;
  head.upto = upto;
  at(rank).notices.push_back(head);
  owner_.wants_turn(rank);
}

void NumberedFrames::owe_hellos(int rank, uint32_t count) {
  at(rank).hellos_owed += count;
  owner_.wants_turn(rank);
}

// Hellos go first, then notices.
bool NumberedFrames::send_owed(int rank) {
  Peer& to = at(rank);
  if (to.hellos_owed > 0) {
    if (!send(rank, FrameKind::kHello)) return false;
    --to.hellos_owed;
    ++to.hellos_sent;
    return true;
  }
  if (!to.notices.empty()) {  // sending one may add another
    const FrameHead notice = to.notices.front();
    to.notices.pop_front();
    const bool sent = send(rank, notice);
    if (!sent) to.notices.push_front(notice);
    return sent;
  }
  return (to.credit.is_owed() || owes_seen(rank)) && send(rank, FrameKind::kCredit);
}

bool NumberedFrames::owes(int rank) const {
  const Peer& to = at(rank);
  return to.hellos_owed > 0 || !to.notices.empty() || to.credit.is_owed() || owes_seen(rank);
}

bool NumberedFrames::send(int rank, FrameKind kind) {
  FrameHead head{};
  head.kind = kind;
  return send(rank, head);
}

bool NumberedFrames::send(int rank, FrameHead head, const std::byte* payload,
                          PendingTransfer* operation) {
  EagerCredit& credit = at(rank).credit;
  head.cookie = cookie_;
  head.rank = static_cast<uint32_t>(rank_);
  head.matched = credit.matched();
  const PostOutcome posted = post_numbered(rank, head, payload, operation);
  if (posted == PostOutcome::kFailed) owner_.lose(rank, "sending to it");
  if (posted != PostOutcome::kYes) return false;
  credit.note_told();
  return true;
}

PostOutcome NumberedFrames::post_numbered(int rank, FrameHead& head, const std::byte* payload,
                                          PendingTransfer* operation) {
  Peer& to = at(rank);
  // A peer that does not read holds up no more buffers than these. A frame that acknowledges others
  // must not wait for an acknowledgement.
  const size_t out = keeps_ ? to.unseen.size() : to.under_way;
  const bool acknowledges = keeps_ && head.kind == FrameKind::kCredit;
  if (out >= kFramesOut && !acknowledges) return PostOutcome::kNotNow;
  PortRequest& frame = requests_.take(PortRequest::Kind::kFrameOut, rank, operation);
  const uint64_t bytes = payload != nullptr ? head.bytes : 0;
  // A hello goes over each rail; then a rail's turn lasts as long as the longest frame.
  const bool hello = head.kind == FrameKind::kHello;
  const uint64_t turn = hello ? to.hellos_sent : to.sent_bytes / kFrameBytes;
  frame.rail = static_cast<uint32_t>(turn % port().rails());
  if (!hello && rails_.lost_of(rank) > 0) frame.rail = rails_.left(rank, frame.rail);
  head.sequence = to.sent;
  head.seen = to.in_order.expected();
  std::memcpy(frame.memory.get(), &head, sizeof head);
  if (bytes > 0) std::memcpy(frame.memory.get() + sizeof head, payload, bytes);
  frame.bytes = sizeof head + bytes;
  if (const PostOutcome posted = post(frame); posted != PostOutcome::kYes) {
    requests_.give_back(frame);
    return posted;
  }
  ++to.sent;
  to.sent_bytes += frame.bytes;
  ++to.under_way;
  if (keeps_) to.unseen.push_back(&frame);
  to.seen_told = head.seen;
  return PostOutcome::kYes;
}

PostOutcome NumberedFrames::post(PortRequest& frame) {
  const int rank = frame.peer;
  frame.under_way = true;
  frame.seen = false;
  for (;;) {
    const PostOutcome posted = port().post(frame);
    if (posted != PostOutcome::kYes) frame.under_way = false;
    if (posted != PostOutcome::kFailed || !replace_rail(rank, frame.rail)) return posted;
    if (at(rank).forgotten) return PostOutcome::kFailed;
    frame.under_way = true;
    frame.rail = rails_.left(rank, frame.rail);
  }
}

void NumberedFrames::post_again(PortRequest& frame) {
  const int rank = frame.peer;
  if (at(rank).forgotten) return;
  frame.rail = rails_.left(rank, frame.rail);
  const PostOutcome posted = post(frame);
  if (posted == PostOutcome::kYes) ++at(rank).under_way;
  if (posted == PostOutcome::kFailed) owner_.lose(rank, "sending to it");
}

void NumberedFrames::went(PortRequest& frame) {
  --at(frame.peer).under_way;
  frame.under_way = false;
  if (!keeps_ || frame.seen) return requests_.give_back(frame);
  if (rails_.lost(frame.peer, frame.rail)) post_again(frame);
}

void NumberedFrames::failed(PortRequest& frame) {
  const int rank = frame.peer;
  if (replace_rail(rank, frame.rail)) return went(frame);
  --at(rank).under_way;
  frame.under_way = false;
  if (!keeps_ || frame.seen) requests_.give_back(frame);
  owner_.lose(rank, "sending to it");
}

// ---- in ----

std::optional<FrameHead> NumberedFrames::head_of(const PortRequest& frame, uint64_t bytes) const {
  FrameHead head{};
  if (bytes < sizeof head || bytes > kFrameBytes) return std::nullopt;
  std::memcpy(&head, frame.memory.get(), sizeof head);
  const bool is_ours = head.cookie == cookie_ && head.rank < peers_.size() &&
                       head.rank != static_cast<uint32_t>(rank_);
  return is_ours ? std::optional(head) : std::nullopt;
}

// False if what a frame tells of this rank's makes no sense.
bool NumberedFrames::note_told(int rank, const FrameHead& head) {
  return (!keeps_ || note_seen(rank, head.seen)) &&
         at(rank).credit.note_matched_there(head.matched);
}

bool NumberedFrames::note_seen(int rank, uint32_t seen) {
  Peer& to = at(rank);
  const uint32_t unseen = to.sent - seen;
  if (unseen > to.unseen.size()) return false;
  if (unseen < to.unseen.size()) owner_.wants_turn(rank);
  const auto first_unseen = to.unseen.end() - unseen;
  for (auto frame = to.unseen.begin(); frame != first_unseen; ++frame) {
    (*frame)->seen = true;
    if (!(*frame)->under_way) requests_.give_back(**frame);
  }
  to.unseen.erase(to.unseen.begin(), first_unseen);
  return true;
}

// ---- what ends ----

void NumberedFrames::lose_rail(int rank, uint32_t rail, const Status& why) {
  if (!rails_.lose(rank, rail, why)) return;
  FrameHead head{};
  head.kind = FrameKind::kRailLost;
  head.id = rail;
  at(rank).notices.push_front(head);
  owner_.wants_turn(rank);
  port().cut(rank, rail);  // requests under way end, and are mended then
  for (PortRequest* const frame : std::vector<PortRequest*>(at(rank).unseen)) {
    if (frame->rail == rail && !frame->under_way && !frame->seen) post_again(*frame);
  }
}

void NumberedFrames::hear_of_loss(int rank, uint32_t rail) {
  if (at(rank).forgotten || !rails_.may_lose_one(rank)) return;
  lose_rail(rank, rail,
            Status::format(Code::kPeerFailed, "rail {}, {}: the other end has lost it", rail,
                           port().where_rail(rail)));
}

bool NumberedFrames::replace_rail(int rank, uint32_t rail) {
  if (!rails_.mends() || at(rank).forgotten) return false;
  if (rails_.lost(rank, rail)) return true;
  if (!rails_.may_lose_one(rank)) return false;
  lose_rail(rank, rail, port().error());
  return true;
}

void NumberedFrames::forget(int rank) {
  Peer& other = at(rank);
  other.forgotten = true;
  other.in_order.forget();
  for (PortRequest* const frame : other.unseen) {
    frame->seen = true;
    if (!frame->under_way) requests_.give_back(*frame);
  }
  other.unseen.clear();
  other.notices.clear();
}

}  // namespace tutti::frames
