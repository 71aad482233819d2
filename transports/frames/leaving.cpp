// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/frames/leaving.hpp"

#include <utility>

#include "core/wait.hpp"
#include "transports/frames/endpoint.hpp"
#include "transports/match/engine_steps.hpp"

namespace tutti::frames {
namespace {

// How long an endpoint that closes waits for what its peers are still sending.
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

void Leaving::tell(std::span<const std::byte> last_words) {
  last_words_.assign(last_words.begin(), last_words.end());
  told_ = true;
  for (int r = 0; r < endpoint_.ranks(); ++r) {
    if (r == endpoint_.rank_ || !deals_with(endpoint_.peer(r))) continue;
    endpoint_.peer(r).owes_leave = true;
    endpoint_.make_busy(r);
    endpoint_.push(r);
  }
}

bool Leaving::push(int rank) {
  Peer& to = endpoint_.peer(rank);
  if (!to.owes_leave || !to.waiting.empty() || !to.streams.empty()) return false;
  FrameHead head{};
  head.kind = FrameKind::kLeave;
  head.bytes = last_words_.size();
  to.owes_leave = !endpoint_.push_frame(rank, head, last_words_.data(), nullptr);
  return !to.owes_leave;
}

void Leaving::has_dealt(int rank) {
  if (std::exchange(endpoint_.peer(rank).dealt, true) || !told_) return;
  endpoint_.peer(rank).owes_leave = true;
  endpoint_.make_busy(rank);
}

// Closing a connection while something is still coming in may lose what has gone out.
void Leaving::say_goodbye() {
  endpoint_.ending_ = true;
  endpoint_.pool_.for_each([this](Operation& operation) {
    endpoint_.dequeue(operation);
    endpoint_.requests_.withdraw(operation);
    operation.transfer = &endpoint_.nobodys_;
    operation.become(FrameEndpoint::Phase::kEnding);
  });
  yield_until(now_ms() + kGoodbyeMs, [this] {
    if (endpoint_.requests_.port().closed()) return true;
    endpoint_.poll_until(nullptr);
    bool over = true;
    for (int r = 0; r < endpoint_.ranks(); ++r) {
      Peer& to = endpoint_.peer(r);
      if ((to.sent == 0 && !to.heard()) || !to.failure.ok()) continue;
      FrameHead head{};
      head.kind = FrameKind::kGoodbye;
      if (!to.said_goodbye && !to.owes_leave) {
        to.said_goodbye = endpoint_.push_frame(r, head, nullptr, nullptr);
      }
      over = over && to.gone && (!to.said_goodbye || to.frames_out == 0);
    }
    return over;
  });
}

// ---- others ------------------------------------------------------------------------------------

void Leaving::is_over(int rank) {
  endpoint_.peer(rank).left = true;
  endpoint_.end_waiting(rank);
  if (all_have_left()) endpoint_.end_waiting(kAnySource);
}

// A rank alone may still send to itself.
bool Leaving::all_have_left() const {
  for (int r = 0; r < endpoint_.ranks(); ++r) {
    if (r != endpoint_.rank_ && !endpoint_.has_left(r)) return false;
  }
  return endpoint_.ranks() > 1;
}

void Leaving::await(int rank) {
  if (rank == kAnySource) {
    awaits_anyone_ = true;
  } else {
    endpoint_.peer(rank).awaited = true;
  }
}

void Leaving::note_whom_transfers_await() {
  endpoint_.pool_.for_each([this](const Operation& operation) {
    if (operation.waits_for_peer()) await(operation.peer);
  });
}

// Whether nothing has ever come from it, and it may be there.
bool Leaving::never_dealt_with(int rank) const {
  const Peer& other = endpoint_.peer(rank);
  return rank != endpoint_.rank_ && !other.heard() && !other.left && other.failure.ok();
}

// Else it would be said to have died (core/exchange.hpp).
bool Leaving::explains_loss(int rank) const {
  return !tells_all_ && !endpoint_.greeting_ && never_dealt_with(rank);
}

// Whether it is there. False if it is being asked.
bool Leaving::ask(int rank) {
  FrameHead head{};
  head.kind = FrameKind::kCredit;
  return endpoint_.peer(rank).frames_out == 0 && endpoint_.push_frame(rank, head, nullptr, nullptr);
}

void Leaving::look() {
  if (++polls_ % kPollsPerLook != 0 || tells_all_ || endpoint_.ending_) return;
  const int64_t now = now_ms();
  if (now < next_look_ms_) return;
  next_look_ms_ = now + kLookMs;
  note_whom_transfers_await();
  for (int r = 0; r < endpoint_.ranks() && endpoint_.closed_.ok(); ++r) {
    Peer& other = endpoint_.peer(r);
    const bool awaited = std::exchange(other.awaited, false) && never_dealt_with(r);
    other.looks_awaited = awaited ? other.looks_awaited + 1 : 0;
    if (other.looks_awaited % kLooksPerQuestion == 2) ask(r);
  }
  const bool anyone = std::exchange(awaits_anyone_, false);
  looks_awaits_anyone_ = anyone ? looks_awaits_anyone_ + 1 : 0;
  if (looks_awaits_anyone_ >= 2) ask_anyone();
}

void Leaving::ask_anyone() {
  int asked = 0;
  for (int i = 0; i < endpoint_.ranks() && asked < kAskedAtOnce && endpoint_.closed_.ok(); ++i) {
    last_asked_ = (last_asked_ + 1) % endpoint_.ranks();
    if (never_dealt_with(last_asked_) && ask(last_asked_)) ++asked;
  }
}

}  // namespace tutti::frames
