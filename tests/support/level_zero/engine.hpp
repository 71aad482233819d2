// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Commands, and what executes them: a thread for each command queue and each immediate list.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "support/level_zero/event.hpp"
#include "support/level_zero/memory.hpp"

namespace tutti_test::ze {

struct Command {
  std::function<void()> run;  // may be empty
  std::vector<Signal> waits;
  Signal signal;           // its memory is null if there is none
  bool after_all = false;  // begins when all commands before it have ended
  bool blocks = false;     // no command after it begins before it has ended
  // Where it reads and writes. A command that is recorded does not keep memory from being freed.
  std::vector<std::weak_ptr<Allocation>> memory;
  // Of what else may not go or change while it is under way: how many such commands there are.
  std::vector<std::shared_ptr<std::atomic<int>>> in_use;
};
using Recorded = std::shared_ptr<const Command>;

// In order, each after the one before it; by ZE_TEST_SHUFFLE, a command that nothing orders begins
// at any time from when it was submitted.
class Engine {
 public:
  Engine();
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // `done` is called when all of them have ended, and a little later than the events tell.
  void submit(const std::vector<Recorded>& commands, std::function<void()> done);
  // Whether all have ended within so many nanoseconds.
  bool wait_idle(uint64_t timeout_ns) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tutti_test::ze
