// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Connections that break. With the last one to a peer, the peer is lost. One of several rails costs
// its share:
//
// - Frames are kept until the peer has said that they came (FrameHead::seen). Those that went over
//   the lost rail, and were not seen, go over another one. The peer leaves aside what came twice.
// - Pieces are asked for again by their receiver, one by one, over a rail that is left (kAgain); it
//   knows which did not come. So a sender keeps its buffer until the receiver has it all (kTaken).
// - Whoever loses a rail tells the other end (kRailLost) before it asks for anything. It cuts its
//   own end, so nothing comes over that rail any more.
#include <algorithm>
#include <bit>
#include <map>
#include <mutex>

#include "core/log.hpp"
#include "core/wait.hpp"
#include "transports/frames/endpoint.hpp"
#include "transports/match/engine_steps.hpp"

namespace tutti::frames {
namespace {

// The time within which the monitor names a peer that has died, in better words.
constexpr int64_t kWordOfDeathMs = 1000;
// The connections to a peer that dies or leaves break at once. So nothing is done about one of them
// before the others had time to, and what came before was read; nor is anybody told.
constexpr int64_t kOthersMs = 5;
constexpr int64_t kWarnMs = 30;
// The channels over one interface have connections of their own, which break with one cause.
constexpr int64_t kSameNewsMs = 60'000;

bool is_news(const std::string& text) {
  static std::mutex mutex;
  static std::map<std::string, int64_t> told;
  const std::lock_guard lock(mutex);
  const int64_t now = now_ms();
  std::erase_if(told, [now](const auto& one) { return now - one.second > kSameNewsMs; });
  return told.emplace(text, now).second;
}

}  // namespace

// ---- a connection breaks -----------------------------------------------------------------------

void FrameEndpoint::connection_broke(int rank, uint32_t rail) {
  if (peer(rank).lost(rail)) return;  // by this end
  const Status why =
      port().rails() > 1 ? port().error() : port().error().with_context(port().where());
  broken_connections_.push_back({rank, rail, now_ms(), why});
}

void FrameEndpoint::hear_of_loss(int rank, uint32_t rail) {
  lose_rail(rank, rail,
            Status::format(Code::kPeerFailed, "rail {}, {}: the other end has lost it", rail,
                           port().where_rail(rail)));
}

// Whether the peer has none left: it has died, or left.
bool FrameEndpoint::all_broken(int rank, const std::vector<BrokenConnection>& all) const {
  uint64_t rails = peer(rank).lost_rails;
  for (const BrokenConnection& broken : all) {
    if (broken.rank == rank) rails |= uint64_t{1} << broken.rail;
  }
  return static_cast<uint32_t>(std::popcount(rails)) == port().rails();
}

void FrameEndpoint::look_at_broken_connections() {
  if (broken_connections_.empty()) return;
  const int64_t now = now_ms();
  const std::vector<BrokenConnection> all = std::exchange(broken_connections_, {});
  for (const BrokenConnection& broken : all) {
    const Peer& other = peer(broken.rank);
    if (ending_ || other.left || other.gone || !other.failure.ok()) continue;
    const int64_t age = now - broken.since_ms;
    const bool none_left = !mends_ || all_broken(broken.rank, all);
    if (!none_left && other.lost(broken.rail) && age >= kWarnMs) {
      warn_of(broken.rank, broken.rail, broken.why);
    } else if (!none_left && !other.lost(broken.rail) && age >= kOthersMs) {
      lose_rail(broken.rank, broken.rail, broken.why);
    } else if (none_left && age >= kWordOfDeathMs) {
      give_up(broken.rank,
              Status::format(Code::kPeerFailed, "the line to it broke: {}", broken.why.message()));
    } else {
      broken_connections_.push_back(broken);
    }
  }
}

bool FrameEndpoint::may_mend(int rank) const {
  const Peer& other = peer(rank);
  const auto lost = static_cast<uint32_t>(std::popcount(other.lost_rails));
  return mends_ && other.failure.ok() && lost + 1 < port().rails();
}

uint32_t FrameEndpoint::rail_left(int rank, uint32_t wanted) const {
  const uint32_t rails = port().rails();
  for (uint32_t turn = 0; turn < rails; ++turn) {
    const uint32_t rail = (wanted + turn) % rails;
    if (!peer(rank).lost(rail)) return rail;
  }
  return rails;
}

void FrameEndpoint::lose_rail(int rank, uint32_t rail, const Status& why) {
  Peer& other = peer(rank);
  if (other.lost(rail)) return;
  other.lost_rails |= uint64_t{1} << rail;
  FrameHead head{};
  head.kind = FrameKind::kRailLost;
  head.id = rail;
  other.notices.push_front(head);
  make_busy(rank);
  broken_connections_.push_back({rank, rail, now_ms(), why});  // to be told
  port().cut(rank, rail);  // what is under way ends, and is mended then
  for (Request* const frame : std::vector<Request*>(other.unseen)) {
    if (frame->rail == rail && !frame->under_way && !frame->seen) post_frame_again(*frame);
  }
}

void FrameEndpoint::warn_of(int rank, uint32_t rail, const Status& why) const {
  const std::string& name = (*names_)[static_cast<size_t>(rank)];
  const auto lost = static_cast<uint32_t>(std::popcount(peer(rank).lost_rails));
  if (!is_news(fmt::format("{} {}", name, port().where_rail(rail)))) return;
  log::warn("{} is no longer reached over {}; {} of {} rails remain", name, why.message(),
            port().rails() - lost, port().rails());
}

// ---- what was under way over it ----------------------------------------------------------------

Posted FrameEndpoint::post_frame(Request& frame) {
  const int rank = frame.peer;
  frame.under_way = true;
  frame.seen = false;
  for (;;) {
    const Posted posted = port().post(frame);
    if (posted != Posted::kYes) frame.under_way = false;
    if (posted != Posted::kFailed || !may_mend(rank)) return posted;
    const uint32_t rail = frame.rail;
    lose_rail(rank, rail, port().error());
    frame.under_way = true;
    frame.rail = rail_left(rank, rail);
  }
}

void FrameEndpoint::post_frame_again(Request& frame) {
  const int rank = frame.peer;
  if (!peer(rank).failure.ok()) return;
  frame.rail = rail_left(rank, frame.rail);
  const Posted posted = post_frame(frame);
  if (posted == Posted::kYes) ++peer(rank).frames_out;
  if (posted == Posted::kFailed) lose(rank, "sending to it");
}

void FrameEndpoint::frame_went(Request& frame) {
  frame.under_way = false;
  if (!keeps_frames_ || frame.seen) return requests_.give_back(frame);
  if (peer(frame.peer).lost(frame.rail)) post_frame_again(frame);
}

bool FrameEndpoint::mend(Request& request) {
  const int rank = request.peer;
  const bool of_rail =
      request.kind != Request::Kind::kFrameIn && request.kind != Request::Kind::kConnection;
  if (!mends_ || !of_rail || !peer(rank).failure.ok()) return false;
  if (!peer(rank).lost(request.rail)) {
    if (!may_mend(rank)) return false;
    lose_rail(rank, request.rail, port().error());
  }
  if (request.kind == Request::Kind::kFrameOut) {
    --peer(rank).frames_out;
    frame_went(request);
  } else if (request.kind == Request::Kind::kPieceIn && !request.operation->is(Phase::kEnding)) {
    (void)expect_again(request);
  } else {
    end_piece(request);
  }
  return true;
}

// Posts a piece over a rail that is left, and asks for it. False: the peer is lost.
bool FrameEndpoint::expect_again(Request& piece) {
  const int rank = piece.peer;
  for (;;) {
    piece.rail = rail_left(rank, piece.rail);
    const Posted posted = piece.rail < port().rails() ? port().post(piece) : Posted::kFailed;
    if (posted == Posted::kYes) break;
    if (posted == Posted::kFailed && may_mend(rank)) {
      lose_rail(rank, piece.rail, port().error());
      continue;
    }
    end_piece(piece);
    lose(rank, "receiving from it");
    return false;
  }
  FrameHead head{};
  head.kind = FrameKind::kAgain;
  head.id = piece.operation->partner;
  head.tag = piece.tag;
  head.upto = piece.rail;
  peer(rank).notices.push_back(head);
  make_busy(rank);
  return true;
}

bool FrameEndpoint::send_again(int rank, const FrameHead& head) {
  if (head.upto >= port().rails()) return false;
  const auto rail = static_cast<uint32_t>(head.upto);
  Operation* const send = pool_.find(head.id, rank);
  if (send == nullptr || send->is(Phase::kEnding)) return true;  // it was cancelled
  if (peer(rank).lost(rail)) return true;  // which the peer hears of, and asks again
  // Several pieces have this number; the one nearest to those being sent is meant.
  const uint64_t now = send->begun / kPieceBytes;
  const auto ahead = static_cast<int16_t>(piece_of(head.tag) - now);
  const uint64_t offset = (now + static_cast<uint64_t>(int64_t{ahead})) * kPieceBytes;
  if (operation_of(head.tag) != static_cast<uint32_t>(send->partner) || offset >= send->limit) {
    return false;
  }
  Request& piece = requests_.take(Request::Kind::kPieceOut, rank, send);
  piece.piece = send->buffer + offset;
  piece.bytes = std::min(kPieceBytes, send->limit - offset);
  piece.tag = head.tag;
  piece.rail = rail;
  if (port().post(piece) == Posted::kYes) {
    ++peer(rank).pieces_out;
    return true;
  }
  requests_.give_back(piece);
  const Status why = port().error();
  if (may_mend(rank)) {
    lose_rail(rank, rail, why);
  } else {
    lose(rank, "sending to it");
  }
  return true;
}

// ---- what the peer has -------------------------------------------------------------------------

bool FrameEndpoint::handle_taken(int rank, const FrameHead& head) {
  Operation* const send = pool_.find(head.id, rank);
  if (send == nullptr || send->is(Phase::kEnding)) return true;
  if (send->limit == 0) return false;  // nothing of it was granted
  send->taken = true;
  finish_if_taken(*send);
  return true;
}

void FrameEndpoint::finish_if_taken(Operation& send) {
  if (!send.taken || requests_.in_flight(send)) return;
  dequeue(send);
  finish(send, {});
}

bool FrameEndpoint::note_seen(int rank, uint32_t seen) {
  Peer& to = peer(rank);
  const uint32_t unseen = to.sent - seen;
  if (unseen > to.unseen.size()) return false;
  if (unseen < to.unseen.size()) make_busy(rank);
  const auto first_unseen = to.unseen.end() - unseen;
  for (auto frame = to.unseen.begin(); frame != first_unseen; ++frame) {
    (*frame)->seen = true;
    if (!(*frame)->under_way) requests_.give_back(**frame);
  }
  to.unseen.erase(to.unseen.begin(), first_unseen);
  return true;
}

void FrameEndpoint::forget_frames(int rank) {
  Peer& to = peer(rank);
  for (Request* const frame : to.unseen) {
    frame->seen = true;
    if (!frame->under_way) requests_.give_back(*frame);
  }
  to.unseen.clear();
  to.notices.clear();
}

}  // namespace tutti::frames
