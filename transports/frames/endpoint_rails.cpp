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
#include <map>
#include <mutex>

#include "core/log.hpp"
#include "core/wait.hpp"
#include "transports/frames/endpoint.hpp"
#include "transports/match/engine_steps.hpp"

namespace tutti::frames {
namespace {

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
  const Status& why = port().error();
  rails_.note_break(rank, rail, port().rails() > 1 ? why : why.with_context(port().where()));
}

void FrameEndpoint::hear_of_loss(int rank, uint32_t rail) {
  frames_.lose_rail(rank, rail,
                    Status::format(Code::kPeerFailed, "rail {}, {}: the other end has lost it",
                                   rail, port().where_rail(rail)));
}

void FrameEndpoint::handle_breaks() {
  if (!rails_.has_breaks()) return;
  const int64_t now = now_ms();
  const std::vector<RailLosses::Break> all = rails_.take_breaks();
  for (const RailLosses::Break& one : all) {
    const Peer& other = peer(one.rank);
    if (stage_ == Stage::kEnding || has_left(one.rank) || other.gone || !other.failure.ok()) {
      continue;
    }
    switch (rails_.due(one, all, now)) {
      case RailLosses::Due::kNothing: rails_.defer(one); break;
      case RailLosses::Due::kLoseRail: frames_.lose_rail(one.rank, one.rail, one.why); break;
      case RailLosses::Due::kWarn: warn_of(one); break;
      case RailLosses::Due::kLosePeer:
        give_up(one.rank,
                Status::format(Code::kPeerFailed, "the line to it broke: {}", one.why.message()));
        break;
    }
  }
}

void FrameEndpoint::warn_of(const RailLosses::Break& lost) const {
  const std::string& name = (*names_)[static_cast<size_t>(lost.rank)];
  if (!is_news(fmt::format("{} {}", name, port().where_rail(lost.rail)))) return;
  log::warn("{} is no longer reached over {}; {} of {} rails remain", name, lost.why.message(),
            port().rails() - rails_.lost_of(lost.rank), port().rails());
}

// ---- what was under way over it ----------------------------------------------------------------

bool FrameEndpoint::mend(Request& request) {
  const int rank = request.peer;
  const bool of_rail =
      request.kind != Request::Kind::kFrameIn && request.kind != Request::Kind::kConnection;
  if (!rails_.mends() || !of_rail || !peer(rank).failure.ok()) return false;
  if (!rails_.lost(rank, request.rail)) {
    if (!may_mend(rank)) return false;
    frames_.lose_rail(rank, request.rail, port().error());
  }
  if (request.kind == Request::Kind::kFrameOut) {
    frames_.went(request);
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
    piece.rail = rails_.left(rank, piece.rail);
    const Posted posted = piece.rail < port().rails() ? port().post(piece) : Posted::kFailed;
    if (posted == Posted::kYes) break;
    if (posted == Posted::kFailed && may_mend(rank)) {
      frames_.lose_rail(rank, piece.rail, port().error());
      continue;
    }
    end_piece(piece);
    lose(rank, "receiving from it");
    return false;
  }
  frames_.add_notice(rank, FrameKind::kAgain, piece.operation->partner, piece.tag, piece.rail);
  return true;
}

bool FrameEndpoint::send_again(int rank, const FrameHead& head) {
  if (head.upto >= port().rails()) return false;
  const auto rail = static_cast<uint32_t>(head.upto);
  PendingTransfer* const send = pool_.find(head.id, rank);
  if (send == nullptr || send->is(Phase::kEnding)) return true;  // it was cancelled
  if (rails_.lost(rank, rail)) return true;  // which the peer hears of, and asks again
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
    frames_.lose_rail(rank, rail, why);
  } else {
    lose(rank, "sending to it");
  }
  return true;
}

// ---- what the peer has -------------------------------------------------------------------------

bool FrameEndpoint::handle_taken(int rank, const FrameHead& head) {
  PendingTransfer* const send = pool_.find(head.id, rank);
  if (send == nullptr || send->is(Phase::kEnding)) return true;
  if (send->limit == 0) return false;  // nothing of it was granted
  send->taken = true;
  finish_if_taken(*send);
  return true;
}

void FrameEndpoint::finish_if_taken(PendingTransfer& send) {
  if (!send.taken || requests_.in_flight(send)) return;
  dequeue(send);
  finish(send, {});
}

}  // namespace tutti::frames
