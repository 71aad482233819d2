// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/interrupt.hpp"

#include <utility>

#include "core/socket.hpp"
#include "core/wait.hpp"

namespace tutti {
namespace {

constexpr int64_t kAskEveryMs = 50;

struct OfThread {
  tutti_interrupt_fn check = nullptr;
  void* context = nullptr;
  int64_t next_ms = 0;  // when to ask it
  bool interrupted = false;
  EndsWaits* scope = nullptr;  // the innermost
};

constinit thread_local OfThread mine;

}  // namespace

void set_interrupt_check(tutti_interrupt_fn check, void* context) {
  mine.check = check;
  mine.context = context;
  mine.interrupted = false;
}

void begin_to_ask() {
  if (mine.check != nullptr) mine.next_ms = rough_ms() + kAskEveryMs;
}

bool may_end_waits() { return mine.check != nullptr || mine.scope != nullptr; }

bool must_end_wait() {
  if (mine.interrupted) return true;
  if (mine.scope != nullptr && mine.scope->ask_why()) return true;
  if (mine.check == nullptr || rough_ms() < mine.next_ms) return false;
  try {
    mine.interrupted = mine.check(mine.context) != 0;
  } catch (...) {
    mine.interrupted = true;
  }
  mine.next_ms = rough_ms() + kAskEveryMs;
  for (EndsWaits* scope = mine.scope; mine.interrupted && scope != nullptr; scope = scope->outer_) {
    scope->tell_();
  }
  return mine.interrupted;
}

Status end_of_waits() {
  if (mine.scope == nullptr || !mine.scope->ask_why()) return {};
  const EndsWaits* scope = mine.scope;
  while (scope->reason_.ok() && scope->outer_ != nullptr) scope = scope->outer_;
  return scope->reason_;
}

void forget_end_of_wait() { mine.interrupted = false; }

bool interrupted() { return mine.interrupted; }

bool take_interrupt() { return std::exchange(mine.interrupted, false); }

EndsWaits::EndsWaits(std::function<Status()> why, std::function<void()> tell)
    : why_(std::move(why)), tell_(std::move(tell)), outer_(mine.scope) {
  mine.scope = this;
}

EndsWaits::~EndsWaits() { mine.scope = outer_; }

bool EndsWaits::ask_why() {
  if (reason_.ok()) reason_ = why_();
  return !reason_.ok() || (outer_ != nullptr && outer_->ask_why());
}

Status EndsWaits::instead_of(Status error, int64_t delay_ms) {
  const int64_t until_ms = now_ms() + delay_ms;
  while (!ask_why() && now_ms() < until_ms) pause_for(1);
  return reason_.ok() ? std::move(error) : reason_;
}

}  // namespace tutti
