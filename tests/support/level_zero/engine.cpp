// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "support/level_zero/engine.hpp"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "support/level_zero/switches.hpp"
#include "support/level_zero/wait.hpp"

namespace tutti_test::ze {

namespace {

struct Batch {
  size_t left;
  std::function<void()> done;
};

struct Pending {
  Recorded command;
  std::vector<Memory> memory;
  std::shared_ptr<Batch> batch;
  uint64_t not_before_ns;
};

bool all_signaled(const std::vector<Signal>& signals) {
  return std::all_of(signals.begin(), signals.end(),
                     [](const Signal& signal) { return signal.state().signaled != 0; });
}

std::atomic<uint64_t> engines_made{0};

}  // namespace

// The thread keeps it, so that a command that never ends does not keep others from ending.
struct Engine::State {
  std::mutex mutex;
  std::condition_variable work;
  std::list<Pending> pending;  // as submitted; the one that runs is still there
  bool ending = false;         // a batch has ended and is not yet done
  bool stop = false;
  std::mt19937_64 random{static_cast<uint64_t>(switches().shuffle) * 1000003 + engines_made++};
  std::thread thread;

  uint64_t draw_delay();
  std::list<Pending>::iterator choose();
  void execute(std::list<Pending>::iterator chosen, std::unique_lock<std::mutex>& lock);
  void serve();
};

// Half of the commands wait a little in a shuffled order, so that some overtake others even if they
// were submitted one by one.
uint64_t Engine::State::draw_delay() {
  uint64_t longest = static_cast<uint64_t>(switches().delay_us) * 1000;
  if (switches().shuffle) longest = std::max<uint64_t>(longest, 100000);
  if (longest == 0 || (random() & 1)) return 0;
  return random() % longest;
}

// One that may begin now, or the end.
std::list<Pending>::iterator Engine::State::choose() {
  std::vector<std::list<Pending>::iterator> free;
  for (auto one = pending.begin(); one != pending.end(); ++one) {
    const Command& command = *one->command;
    const bool its_turn = !command.after_all || one == pending.begin();
    if (its_turn && one->not_before_ns <= now_ns() && all_signaled(command.waits)) {
      free.push_back(one);
    }
    if (command.blocks || command.after_all || !switches().shuffle) break;
  }
  return free.empty() ? pending.end() : free[random() % free.size()];
}

void Engine::State::execute(std::list<Pending>::iterator chosen,
                            std::unique_lock<std::mutex>& lock) {
  const Recorded command = chosen->command;
  lock.unlock();
  const uint64_t begun = now_ns();
  if (command->run) command->run();
  lock.lock();
  for (const Memory& memory : chosen->memory) memory->commands--;
  for (const auto& count : command->in_use) --*count;
  const std::shared_ptr<Batch> batch = chosen->batch;
  pending.erase(chosen);
  ending = --batch->left == 0 && batch->done;
  if (command->signal.memory) {
    EventState& state = command->signal.state();
    state.begun = begun;
    state.ended = now_ns();
    state.signaled = 1;
  }
  if (!ending) return;
  const std::chrono::nanoseconds later(draw_delay());
  lock.unlock();
  std::this_thread::sleep_for(later);
  lock.lock();
  batch->done();
  ending = false;
}

void Engine::State::serve() {
  std::unique_lock lock(mutex);
  while (true) {
    work.wait(lock, [&] { return stop || !pending.empty(); });
    if (stop) return;
    const auto chosen = choose();
    if (chosen != pending.end()) {
      execute(chosen, lock);
      continue;
    }
    lock.unlock();
    std::this_thread::sleep_for(kNap);
    lock.lock();
  }
}

Engine::Engine() : state_(std::make_shared<State>()) {}

Engine::~Engine() {
  std::unique_lock lock(state_->mutex);
  const bool idle = state_->pending.empty();
  state_->stop = true;
  state_->work.notify_all();
  std::thread thread = std::move(state_->thread);
  lock.unlock();
  if (!idle) complain("a queue or an immediate list is destroyed while it executes commands");
  if (!thread.joinable()) return;
  if (idle) {
    thread.join();
  } else {
    thread.detach();
  }
}

void Engine::submit(const std::vector<Recorded>& commands, std::function<void()> done) {
  if (commands.empty()) {
    if (done) done();
    return;
  }
  const std::lock_guard lock(state_->mutex);
  auto batch = std::make_shared<Batch>(Batch{commands.size(), std::move(done)});
  for (const Recorded& command : commands) {
    Pending pending{command, {}, batch, now_ns() + state_->draw_delay()};
    for (const auto& count : command->in_use) ++*count;
    for (const auto& weak : command->memory) {
      if (Memory memory = weak.lock()) {
        memory->commands++;
        pending.memory.push_back(std::move(memory));
      } else {
        complain("a command uses memory that was freed");
      }
    }
    state_->pending.push_back(std::move(pending));
  }
  if (!state_->thread.joinable()) {
    state_->thread = std::thread([state = state_] { state->serve(); });
  }
  state_->work.notify_all();
}

bool Engine::wait_idle(uint64_t timeout_ns) const {
  return wait_for(
      [&] {
        const std::lock_guard lock(state_->mutex);
        return state_->pending.empty() && !state_->ending;
      },
      timeout_ns);
}

}  // namespace tutti_test::ze
