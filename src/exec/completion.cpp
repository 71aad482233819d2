// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The end of a completion, and its visitors.
#include "exec/completion.hpp"

#include <mutex>
#include <utility>

#include "core/wait.hpp"
#include "exec/helped_progress.hpp"

namespace tutti {

void Completion::help() {
  const Visit visit(*this);
  if (visit.inside()) progress_.help_from_application();
}

void Completion::wake_workers() {
  const Visit visit(*this);
  if (visit.inside()) progress_.wake_workers();
}

void Completion::complete(Status status) {
  HelpedProgress& progress = progress_;
  std::unique_lock lock(lock_);
  status_ = std::move(status);
  state_.fetch_or(kEnded, std::memory_order_relaxed);
  const auto function = function_.load(std::memory_order_relaxed);
  void* const context = context_;
  lock.unlock();
  call_at_end(function, context);
  const uint32_t before = state_.fetch_sub(kActive, std::memory_order_acq_rel);
  progress.one_has_ended(before == (kActive | kEnded));
}

void Completion::leave() {
  HelpedProgress& progress = progress_;
  const uint32_t before = state_.fetch_sub(kVisitor, std::memory_order_acq_rel);
  if (before == (kEnded | kVisitor)) progress.one_is_over();
}

void Completion::await_last_visitor() const {
  yield_until(kNever, [this] { return has_no_visitor(); });
}

bool Completion::in_function_of(const HelpedProgress& progress) {
  for (const Inside* inside = innermost; inside != nullptr; inside = inside->outer) {
    if (&inside->of->progress_ == &progress) return true;
  }
  return false;
}

}  // namespace tutti
