// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The word that a rank leaves. It tells those that it has dealt with, over the
// connections that they have. To tell all would connect every two ranks at the end of a
// communicator, most of them for the first time (docs/scale.md). So a rank that waits for one of
// which it has never heard sends that an empty frame. Then they have dealt with one another, or
// nobody is there any more. If the network would not say that, all are told.
#include <utility>

#include "core/wait.hpp"
#include "transports/frames/endpoint.hpp"
#include "transports/match/engine_steps.hpp"

namespace tutti::frames {
namespace {

// The time that an endpoint that closes waits for what its peers are still sending.
constexpr int64_t kGoodbyeMs = 100;
// How often to look who is awaited, and after how many polls to look at the clock. A transfer that
// waited at the last look, too, has waited for long. Its peer is asked then, and again after so
// many looks, as it may have left meanwhile.
constexpr int64_t kLookMs = 100;
constexpr uint32_t kPollsPerLook = 64;
constexpr uint32_t kLooksPerQuestion = 10;
// How many ranks are asked at a look for a receive from any of them: to reach all at once would be
// what this avoids.
constexpr int kAskedAtOnce = 8;

}  // namespace

// ---- this rank ---------------------------------------------------------------------------------

void FrameEndpoint::leave(std::span<const std::byte> last_words) {
  last_words_.assign(last_words.begin(), last_words.end());
  told_ = true;
  for (int r = 0; r < ranks(); ++r) {
    if (r == rank_ || !deals_with(r)) continue;
    peer(r).owes_leave = true;
    make_busy(r);
    push(r);
  }
}

bool FrameEndpoint::push_leave(int rank) {
  Peer& to = peer(rank);
  if (!to.owes_leave || !to.waiting.empty() || !to.streams.empty()) return false;
  FrameHead head{};
  head.kind = FrameKind::kLeave;
  head.bytes = last_words_.size();
  to.owes_leave = !push_frame(rank, head, last_words_.data(), nullptr);
  return !to.owes_leave;
}

void FrameEndpoint::note_dealt(int rank) {
  if (std::exchange(peer(rank).dealt, true) || !told_) return;
  peer(rank).owes_leave = true;
  make_busy(rank);
}

// Closing a connection while something is still coming in may lose what has gone out.
void FrameEndpoint::say_goodbye() {
  ending_ = true;
  pool_.for_each([this](Operation& operation) {
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
      if ((to.sent == 0 && !to.heard()) || !to.failure.ok()) continue;
      FrameHead head{};
      head.kind = FrameKind::kGoodbye;
      if (!to.said_goodbye && !to.owes_leave) {
        to.said_goodbye = push_frame(r, head, nullptr, nullptr);
      }
      over = over && to.gone && (!to.said_goodbye || to.frames_out == 0);
    }
    return over;
  });
}

// ---- others ------------------------------------------------------------------------------------

void FrameEndpoint::await(int rank) {
  if (rank == kAnySource) {
    awaits_anyone_ = true;
  } else {
    peer(rank).awaited = true;
  }
}

void FrameEndpoint::note_whom_transfers_await() {
  pool_.for_each([this](const Operation& operation) {
    if (operation.waits_for_peer()) await(operation.peer);
  });
}

// Whether nothing has ever come from it, and it may be there.
bool FrameEndpoint::never_dealt_with(int rank) const {
  const Peer& other = peer(rank);
  return rank != rank_ && !other.heard() && !other.left && other.failure.ok();
}

// A peer that had died would be named as dead by others (core/exchange.hpp).
bool FrameEndpoint::explains_loss(int rank) const {
  return !tells_all_ && !greeting_ && never_dealt_with(rank);
}

// Sends a peer an empty frame, to learn whether it is there; false: one is under way, or has no
// room.
bool FrameEndpoint::ask(int rank) {
  FrameHead head{};
  head.kind = FrameKind::kCredit;
  return peer(rank).frames_out == 0 && push_frame(rank, head, nullptr, nullptr);
}

void FrameEndpoint::ask_who_is_awaited() {
  if (++polls_ % kPollsPerLook != 0 || tells_all_ || ending_) return;
  const int64_t now = now_ms();
  if (now < next_look_ms_) return;
  next_look_ms_ = now + kLookMs;
  note_whom_transfers_await();
  for (int r = 0; r < ranks() && closed_.ok(); ++r) {
    Peer& other = peer(r);
    const bool awaited = std::exchange(other.awaited, false) && never_dealt_with(r);
    other.looks_awaited = awaited ? other.looks_awaited + 1 : 0;
    if (other.looks_awaited % kLooksPerQuestion == 2) ask(r);
  }
  const bool anyone = std::exchange(awaits_anyone_, false);
  looks_awaits_anyone_ = anyone ? looks_awaits_anyone_ + 1 : 0;
  if (looks_awaits_anyone_ >= 2) ask_anyone();
}

void FrameEndpoint::ask_anyone() {
  int asked = 0;
  for (int i = 0; i < ranks() && asked < kAskedAtOnce && closed_.ok(); ++i) {
    last_asked_ = (last_asked_ + 1) % ranks();
    if (never_dealt_with(last_asked_) && ask(last_asked_)) ++asked;
  }
}

}  // namespace tutti::frames
