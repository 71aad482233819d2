// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The functions of a completion's visitors.
#include "exec/completion.hpp"

#include "core/wait.hpp"
#include "exec/helped_progress.hpp"

namespace tutti {

void Completion::help() {
  const Visit visit(*this);
  if (visit.inside()) progress().help_from_application();
}

void Completion::wake_workers() {
  const Visit visit(*this);
  if (visit.inside()) progress().wake_workers();
}

void Completion::tell_that_it_is_over() { progress().one_is_over(); }

void Completion::await_last_visitor() const {
  yield_until(kNever, [this] { return state_.load(std::memory_order_acquire) == 0; });
}

bool Completion::in_function_of(const HelpedProgress& progress) {
  for (const Inside* inside = innermost; inside != nullptr; inside = inside->outer) {
    if (&inside->of->progress() == &progress) return true;
  }
  return false;
}

}  // namespace tutti
