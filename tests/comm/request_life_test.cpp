// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Operations and messages that threads wait for while their communicator is destroyed.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "exec/operation.hpp"
#include "support/threads_as_ranks.hpp"

namespace tutti {
namespace {

constexpr int kRanks = 3;
constexpr int kCommunicators = 100;
constexpr int kEach = 4;

// What one rank has started on one communicator, and who uses it. It outlives the communicator.
class Started {
 public:
  Started(Communicator& communicator, size_t count) : data_(count, 1), sums_(count) {
    Call call;
    call.collective = Collective::kAllreduce;
    call.type = DataType::kInt32;
    call.count = count;
    call.send = data_.data();
    call.recv = sums_.data();
    const int rank = communicator.rank();
    const int next = (rank + 1) % kRanks;
    const int before = (rank + kRanks - 1) % kRanks;
    all_.push_back(std::make_unique<Operation>(communicator.executor(), call));
    add_message(communicator, {.sends = true, .peer = next, .buffer = &sent_, .count = 1});
    add_message(communicator, {.sends = false, .peer = before, .buffer = &got_, .count = 1});
    for (const auto& each : all_) EXPECT_TRUE(each->start(StartedFor::kWorkers).ok());
  }

  // In another thread, in a way of several.
  void use(int way) const {
    for (const auto& each : all_) {
      switch (way % 3) {
        case 0: (void)each->wait(kNever); break;
        case 1:
          for (; !each->done(); std::this_thread::yield()) each->help();
          break;
        default:
          while (each->wait(0).code() == Code::kTimeout) std::this_thread::yield();
      }
      EXPECT_TRUE(each->status().ok());
    }
  }

 private:
  void add_message(Communicator& communicator, const MessageArguments& arguments) {
    all_.push_back(std::make_unique<Message>(communicator.messages(), arguments));
  }

  std::vector<int32_t> data_;
  std::vector<int32_t> sums_;
  uint8_t sent_ = 1;
  uint8_t got_ = 0;
  std::vector<std::unique_ptr<Completion>> all_;
};

TEST(RequestLife, GoesOnWhileTheCommunicatorIsClosedAndDestroyed) {
  for (int round = 0; round < kCommunicators; ++round) {
    std::mutex mutex;
    std::vector<std::unique_ptr<Started>> started;  // guarded by mutex
    std::vector<std::thread> users;                 // guarded by mutex
    run_thread_ranks(kRanks, [&](Communicator& communicator) {
      for (int i = 0; i < kEach; ++i) {
        auto made = std::make_unique<Started>(communicator, i % 5 == 0 ? 20'000 : 1);
        const std::lock_guard lock(mutex);
        users.emplace_back([&use = *made, i] { use.use(i); });
        started.push_back(std::move(made));
      }
      EXPECT_TRUE(communicator.close().ok());
    });
    for (std::thread& user : users) user.join();
  }
}

}  // namespace
}  // namespace tutti
