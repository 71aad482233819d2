// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks that are threads of the test: real communicators over real shared memory in one process, so
// that ThreadSanitizer sees what callers, workers and the monitor share.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "comm/communicator.hpp"
#include "core/exchange.hpp"

namespace tutti {

// An allreduce of `data` in its place.
inline Call sum_of(std::span<float> data) {
  Call call;
  call.collective = Collective::kAllreduce;
  call.type = DataType::kFloat32;
  call.count = data.size();
  call.send = call.recv = data.data();
  return call;
}

// An exchange between threads.
class ThreadMeeting {
 public:
  explicit ThreadMeeting(int ranks) : ranks_(ranks), slots_(static_cast<size_t>(ranks)) {}
  [[nodiscard]] int ranks() const { return ranks_; }

  std::vector<std::vector<std::byte>> allgather(int rank, std::span<const std::byte> mine) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return leaving_ == 0; });  // the round before is over
    slots_[static_cast<size_t>(rank)].assign(mine.begin(), mine.end());
    if (++arrived_ == ranks_) {
      leaving_ = ranks_;
      arrived_ = 0;
      changed_.notify_all();
    } else {
      changed_.wait(lock, [this] { return leaving_ > 0; });
    }
    const auto all = slots_;
    if (--leaving_ == 0) changed_.notify_all();
    return all;
  }

 private:
  const int ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  int leaving_ = 0;
  std::vector<std::vector<std::byte>> slots_;
};

class ThreadExchange : public Exchange {
 public:
  ThreadExchange(ThreadMeeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return meeting_.ranks(); }
  Result<std::vector<std::vector<std::byte>>> allgather(std::span<const std::byte> mine) override {
    return meeting_.allgather(rank_, mine);
  }

 private:
  ThreadMeeting& meeting_;
  const int rank_;
};

// Runs body(communicator) as every rank of one communicator.
inline void run_thread_ranks(int ranks, const std::function<void(Communicator&)>& body) {
  auto runtime = Runtime::get();
  ASSERT_TRUE(runtime.ok()) << runtime.status().message();
  ThreadMeeting meeting(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadExchange exchange(meeting, rank);
      CommunicatorConfig config;
      config.timeout_ms = 60'000;
      config.init_timeout_ms = 60'000;
      config.name = "test";
      auto made = Communicator::create(*runtime, exchange, config);
      ASSERT_TRUE(made.ok()) << made.status().message();
      body(**made);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tutti
