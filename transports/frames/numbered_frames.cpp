// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/frames/numbered_frames.hpp"

#include <cstring>

#include "core/tuned.hpp"

namespace tutti::frames {

// ---- out ----

void NumberedFrames::add_notice(int rank, FrameKind kind, uint64_t id, Tag tag, uint64_t upto) {
  FrameHead head{};
  head.kind = kind;
  head.id = id;
  head.tag = tag;
  head.upto = upto;
  at(rank).notices.push_back(head);
  owner_.notice_waits(rank);
}

std::optional<FrameHead> NumberedFrames::take_notice(int rank) {
  std::list<FrameHead>& notices = at(rank).notices;
  if (notices.empty()) return std::nullopt;
  const FrameHead first = notices.front();
  notices.pop_front();
  return first;
}

void NumberedFrames::owe_hellos(int rank, uint32_t count) {
  at(rank).hellos_owed += count;
  owner_.notice_waits(rank);
}

void NumberedFrames::hello_sent(int rank) {
  --at(rank).hellos_owed;
  ++at(rank).hellos_sent;
}

Posted NumberedFrames::send(int rank, FrameHead head, const std::byte* payload,
                            PendingTransfer* operation) {
  Peer& to = at(rank);
  // A peer that does not read holds up no more buffers than these. A frame that acknowledges others
  // must not wait for an acknowledgement.
  const size_t out = keeps_ ? to.unseen.size() : to.under_way;
  const bool acknowledges = keeps_ && head.kind == FrameKind::kCredit;
  if (out >= tuned::kFramesOut && !acknowledges) return Posted::kNotNow;
  Request& frame = requests_.take(Request::Kind::kFrameOut, rank, operation);
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
  if (const Posted posted = post(frame); posted != Posted::kYes) {
    requests_.give_back(frame);
    return posted;
  }
  ++to.sent;
  to.sent_bytes += frame.bytes;
  ++to.under_way;
  if (keeps_) to.unseen.push_back(&frame);
  to.seen_told = head.seen;
  return Posted::kYes;
}

Posted NumberedFrames::post(Request& frame) {
  const int rank = frame.peer;
  frame.under_way = true;
  frame.seen = false;
  for (;;) {
    const Posted posted = port().post(frame);
    if (posted != Posted::kYes) frame.under_way = false;
    if (posted != Posted::kFailed || !rails_.may_lose_one(rank)) return posted;
    const uint32_t rail = frame.rail;
    lose_rail(rank, rail, port().error());
    if (at(rank).forgotten) return Posted::kFailed;
    frame.under_way = true;
    frame.rail = rails_.left(rank, rail);
  }
}

void NumberedFrames::post_again(Request& frame) {
  const int rank = frame.peer;
  if (at(rank).forgotten) return;
  frame.rail = rails_.left(rank, frame.rail);
  const Posted posted = post(frame);
  if (posted == Posted::kYes) ++at(rank).under_way;
  if (posted == Posted::kFailed) owner_.lose(rank, "sending to it");
}

void NumberedFrames::went(Request& frame) {
  --at(frame.peer).under_way;
  frame.under_way = false;
  if (!keeps_ || frame.seen) return requests_.give_back(frame);
  if (rails_.lost(frame.peer, frame.rail)) post_again(frame);
}

void NumberedFrames::failed(Request& frame) {
  const int rank = frame.peer;
  --at(rank).under_way;
  frame.under_way = false;
  if (!keeps_ || frame.seen) requests_.give_back(frame);
  owner_.lose(rank, "sending to it");
}

// ---- what the peer has ----

bool NumberedFrames::note_seen(int rank, uint32_t seen) {
  Peer& to = at(rank);
  const uint32_t unseen = to.sent - seen;
  if (unseen > to.unseen.size()) return false;
  if (unseen < to.unseen.size()) owner_.notice_waits(rank);
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
  put_back(rank, head);  // before all others
  owner_.notice_waits(rank);
  port().cut(rank, rail);  // what is under way ends, and is mended then
  for (Request* const frame : std::vector<Request*>(at(rank).unseen)) {
    if (frame->rail == rail && !frame->under_way && !frame->seen) post_again(*frame);
  }
}

void NumberedFrames::forget(int rank) {
  Peer& other = at(rank);
  other.forgotten = true;
  other.in_order.forget();
  for (Request* const frame : other.unseen) {
    frame->seen = true;
    if (!frame->under_way) requests_.give_back(*frame);
  }
  other.unseen.clear();
  other.notices.clear();
}

}  // namespace tutti::frames
