// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The last frames of an endpoint: that this rank leaves (departures.hpp), and that it closes.
#include "core/wait.hpp"
#include "transports/frames/endpoint.hpp"
#include "transports/match/engine_steps.hpp"

namespace tutti::frames {
namespace {

// The time that an endpoint that closes waits for what its peers are still sending.
constexpr int64_t kGoodbyeMs = 100;

}  // namespace

// ---- this rank ---------------------------------------------------------------------------------

void FrameEndpoint::leave(std::span<const std::byte> last_words) {
  departures_.leave(last_words);
  for (int r = 0; r < ranks(); ++r) {
    if (!departures_.owes_word(r)) continue;
    make_busy(r);
    push(r);
  }
}

// Sends the frame that says so, after all others.
bool FrameEndpoint::push_leave(int rank) {
  const Peer& to = peer(rank);
  if (!departures_.owes_word(rank) || !to.waiting.empty() || !to.streams.empty()) return false;
  FrameHead head{};
  head.kind = FrameKind::kLeave;
  head.bytes = departures_.last_words().size();
  if (!frames_.send(rank, head, departures_.last_words().data())) return false;
  departures_.word_sent(rank);
  return true;
}

// Closing a connection while something is still coming in may lose what has gone out.
void FrameEndpoint::say_goodbye() {
  stage_ = Stage::kEnding;
  pool_.for_each([this](PendingTransfer& operation) {
    dequeue(operation);
    requests_.withdraw(operation);
    operation.transfer = &nobodys_;
    operation.become(Phase::kEnding);
  });
  yield_until(now_ms() + kGoodbyeMs, [this] {
    if (port().closed()) return true;
    poll_until(nullptr);
    bool over = true;
    for (int r = 0; r < ranks(); ++r) {
      Peer& to = peer(r);
      if ((!frames_.sent_any(r) && frames_.heard(r) == 0) || !to.failure.ok()) continue;
      if (!to.said_goodbye && !departures_.owes_word(r)) {
        to.said_goodbye = frames_.send(r, FrameKind::kGoodbye);
      }
      over = over && to.gone && (!to.said_goodbye || frames_.under_way(r) == 0);
    }
    return over;
  });
}

// ---- others ------------------------------------------------------------------------------------

// Whether nothing has ever come from it, and it may be there.
bool FrameEndpoint::is_silent(int rank) const {
  return rank != rank_ && frames_.heard(rank) == 0 && !has_left(rank) && peer(rank).failure.ok();
}

// A peer that had died would be named as dead by others (core/exchange.hpp).
bool FrameEndpoint::explains_loss(int rank) const {
  return !departures_.tells_all() && stage_ != Stage::kGreeting && is_silent(rank);
}

void FrameEndpoint::ask_silent_peers() {
  if (departures_.tells_all() || stage_ == Stage::kEnding || !silent_.count_poll_and_ask_if_due())
    return;
  pool_.for_each([this](const PendingTransfer& operation) {
    if (operation.waits_for_peer()) silent_.await(operation.peer);
  });
  silent_.check([this](int rank) { return closed_.ok() && is_silent(rank); },
                [this](int rank) {
                  if (frames_.under_way(rank) > 0) return false;
                  const bool asked = frames_.send(rank, FrameKind::kCredit);
                  if (asked) departures_.deal_with(rank);
                  return asked;
                });
}

}  // namespace tutti::frames
