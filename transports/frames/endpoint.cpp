// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The begin and the end of an endpoint, and what ends its transfers early.
#include "transports/frames/endpoint.hpp"

#include <algorithm>

#include "core/caught.hpp"
#include "transports/match/engine_steps.hpp"

template class tutti::match::Engine<tutti::frames::FrameEndpoint, tutti::frames::Types>;

namespace tutti::frames {
namespace {

// The time for the network to let go of a buffer, before it is made to.
constexpr int64_t kLetGoMs = 500;

}  // namespace

FrameEndpoint::FrameEndpoint(std::unique_ptr<Port> port,
                             std::shared_ptr<const std::vector<std::string>> names, int rank,
                             uint32_t cookie)
    : Engine(rank, static_cast<int>(names->size())),
      names_(std::move(names)),
      requests_(std::move(port)),
      rails_(ranks(), requests_.port().rails()),
      frames_(*this, requests_, rails_, rank, ranks(), cookie),
      pieces_(*this, requests_, rails_, frames_, ranks()),
      departures_(rank, ranks(), !requests_.port().refuses()),
      silent_(ranks()) {}

FrameEndpoint::~FrameEndpoint() {
  try_to([this] { say_goodbye(); });
  port().close();  // it still takes in what comes, while there are buffers for it
}

Status FrameEndpoint::greet(int64_t deadline_ms) {
  for (int r = rank_ + 1; r < ranks(); ++r) frames_.owe_hellos(r, port().rails());
  const auto met_all = [&] {
    for (int r = 0; r < ranks(); ++r) {
      if (r != rank_ && !frames_.met(r, port().rails())) return false;
    }
    return true;
  };
  const auto met_or_failed = [&] {
    while (poll_until(nullptr)) {
    }
    return met_all() || !closed_.ok() || std::any_of(peers_.begin(), peers_.end(), [](auto& other) {
             return !other.failure.ok();
           });
  };
  stage_ = Stage::kGreeting;
  const bool in_time = yield_until(deadline_ms, met_or_failed);
  stage_ = Stage::kOpen;
  if (!closed_.ok()) return closed_;
  for (int r = 0; r < ranks(); ++r) {
    if (!peer(r).failure.ok()) return peer(r).failure;
  }
  for (int r = 0; r < ranks() && !in_time; ++r) {
    const uint32_t hellos = frames_.heard(r);  // over the rails before came those before
    if (r == rank_ || hellos >= port().rails()) continue;
    const std::string rail = port().rails() > 1 ? fmt::format("rail {}, ", hellos) : "";
    return Status::format(Code::kTimeout, "{} was not reached in time over {}{}",
                          (*names_)[static_cast<size_t>(r)], rail, port().where_rail(hellos));
  }
  return {};
}

Status FrameEndpoint::why_not(int rank) const {
  if (rank != rank_ && !closed_.ok()) return closed_;
  if (rank == kAnySource) {
    return all_have_left() ? Status{Code::kPeerFailed, std::string(kAllHaveLeft)} : Status{};
  }
  const Status& failure = peer(rank).failure;
  if (!failure.ok() || !has_left(rank)) return failure;
  return {Code::kPeerFailed,
          (*names_)[static_cast<size_t>(rank)] + " has destroyed its communicator"};
}

// ---- giving up ----

// The operation goes on without its transfer, until nothing is under way for it.
void FrameEndpoint::take_back(PendingTransfer& operation) {
  operation.drains = operation.is_granted() && operation.granted > 0;
  const int rank = operation.peer;
  dequeue(operation);
  requests_.withdraw(operation);
  // Pieces that nobody wants any more go on coming, to the sink.
  if (operation.drains) {
    operation.state = State::kReceiving;
    (void)requests_.sink();
  } else {
    operation.become(Phase::kEnding);
  }
  operation.transfer->internal = nullptr;
  operation.transfer = &nobodys_;
  const bool let_go = yield_until(now_ms() + kLetGoMs, [&] {
    if (!requests_.in_flight(operation)) return true;
    poll_until(nullptr);
    return !requests_.in_flight(operation);
  });
  if (!let_go) {
    close(Status::format(Code::kAborted,
                         "the endpoint was closed because a transfer with {} could not be taken "
                         "back within {} ms in any other way",
                         (*names_)[static_cast<size_t>(rank)], kLetGoMs));
  }
  if (operation.is(Phase::kEnding)) {
    if (!requests_.under_way(operation)) release(operation);  // otherwise its last piece ends it
    return;
  }
  if (operation.state == State::kReceiving) wants_grant(operation);
}

// Abandons an operation whose peer has failed or left. Requests name it until none is under way, be
// it to the sink. If all of it is over by then, it ends well: pieces that the peer sent before it
// left have met their buffers, which cannot be withdrawn any more.
void FrameEndpoint::abandon(PendingTransfer& operation) {
  if (operation.is(Phase::kEnding) || outlives_peer(operation)) return;
  operation.retired = operation.is_granted() && operation.granted > operation.moved;
  dequeue(operation);
  requests_.withdraw(operation);
  operation.become(Phase::kEnding);
  if (!requests_.under_way(operation)) finish(operation, why_not(operation.peer));
}

// Whether an operation goes on after its peer has left: an eager send, which ends with its frame,
// and a receive whose pieces may still come over other rails than the frame that said so.
bool FrameEndpoint::outlives_peer(const PendingTransfer& operation) const {
  if (operation.peer == kAnySource || !peer(operation.peer).failure.ok()) return false;
  if (operation.is(Phase::kSending)) return operation.limit == 0;
  const bool over_rails = port().rails() > 1 && !frames_.keeps();
  return over_rails && operation.is_granted() && operation.granted == operation.limit;
}

// Ends all transfers with a peer.
void FrameEndpoint::give_up(int rank, const Status& failure) {
  if (!peer(rank).failure.ok()) return;
  frames_.forget(rank);
  fail(rank, failure.with_context((*names_)[static_cast<size_t>(rank)]));
}

void FrameEndpoint::wants_grant(PendingTransfer& receive) {
  receive.state = State::kGranting;
  peer(receive.peer).grants.push(receive);
  make_busy(receive.peer);
}

void FrameEndpoint::end(PendingTransfer& operation, PieceProtocol::End how) {
  dequeue(operation);
  if (how == PieceProtocol::End::kCame) {
    operation.retired = false;
    return finish_granted(operation);
  }
  finish(operation, how == PieceProtocol::End::kWent ? Status() : why_not(operation.peer));
}

// The last resort: no buffer is touched any more, and nothing goes anywhere.
void FrameEndpoint::close(const Status& reason) {
  if (port().closed()) return;
  port().close();
  closed_ = reason;
  requests_.forget_operations();
  pool_.for_each([this](PendingTransfer& operation) {
    if (operation.state == State::kLocal) return;
    if (operation.state == State::kPosted && operation.peer == rank_) return;
    dequeue(operation);
    finish(operation, closed_);
  });
  busy_.clear();
}

}  // namespace tutti::frames
