// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/communicator.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "exec/operation.hpp"
#include "support/threads_as_ranks.hpp"

namespace tutti {
namespace {

Call allreduce(const std::vector<float>& send, std::vector<float>& recv) {
  Call call;
  call.collective = Collective::kAllreduce;
  call.type = DataType::kFloat32;
  call.count = send.size();
  call.send = send.data();
  call.recv = recv.data();
  return call;
}

Call broadcast(std::vector<float>& buffer, int root) {
  Call call = allreduce(buffer, buffer);
  call.collective = Collective::kBroadcast;
  call.root = root;
  return call;
}

float sum_of_ranks(const Communicator& communicator) {
  return static_cast<float>(communicator.ranks() * (communicator.ranks() + 1)) / 2;
}

std::vector<float> contribution(const Communicator& communicator, size_t count) {
  return std::vector<float>(count, static_cast<float>(communicator.rank() + 1));
}

TEST(CommunicatorConfig, ANameCommandsNoTerminal) {
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  config.name = "a\x1b[2J\nb";
  const auto resolved = resolve_config(&config, Environment{});
  ASSERT_TRUE(resolved.ok());
  EXPECT_EQ(resolved->name, "a?[2J?b");
}

TEST(Communicator, ABlockingCallOnAnIdleCommunicatorStartsNoWorker) {
  // Workers are named; a thread that never existed cannot have been crossed to.
  run_thread_ranks(2, [](Communicator& communicator) {
    for (const size_t count : {1u, 100u, 3000u, 100'000u}) {
      const auto send = contribution(communicator, count);
      std::vector<float> recv(count);
      ASSERT_TRUE(communicator.executor().run(allreduce(send, recv)).ok());
      EXPECT_EQ(recv, std::vector<float>(count, sum_of_ranks(communicator)));
    }
    EXPECT_FALSE(communicator.executor().workers().started());
  });
}

TEST(Communicator, WhatIsStartedAndNeedsNobodyEndsAtOnceAndStartsNoWorker) {
  run_thread_ranks(2, [](Communicator& communicator) {
    std::vector<float> buffer(100, 7);
    if (communicator.rank() == 0) {
      Operation operation(communicator.executor(), broadcast(buffer, 0));
      ASSERT_TRUE(operation.start(StartedFor::kWorkers).ok());
      EXPECT_TRUE(operation.done());
      EXPECT_FALSE(communicator.executor().workers().started());
    } else {
      std::vector<float> got(100);
      ASSERT_TRUE(communicator.executor().run(broadcast(got, 0)).ok());
      EXPECT_EQ(got, buffer);
    }
  });
}

// It may be the call that the ranks have failed about. The application has heard of nothing yet.
TEST(Communicator, ACallThatIsRefusedAfterAWorkerHasEndedAMessageIsNoted) {
  run_thread_ranks(1, [](Communicator& communicator) {
    int32_t data = 0;
    Message receive(communicator.messages(),
                    {.type = DataType::kInt32, .peer = 0, .tag = 1, .buffer = &data, .count = 1});
    ASSERT_TRUE(receive.start(StartedFor::kWorkers).ok());
    communicator.health().fail({Code::kMismatch, "ranks made different calls"});
    while (!receive.done()) communicator.messages().drive(0);
    EXPECT_EQ(receive.status().code(), Code::kMismatch);
    const RecordLine& noted =
        communicator.executor().transport().notes(0, 0)->calls[1 % kNotedCalls];
    EXPECT_EQ(noted.record.sequence, 0u);
    EXPECT_EQ(communicator.executor().run(Call{}).code(), Code::kMismatch);
    EXPECT_EQ(noted.record.sequence, 1u);
    EXPECT_NE(noted.begun.load(), 0u);
  });
}

TEST(Communicator, AWorkerEndsWhatIsStartedByWhoUsuallyWaits) {
  run_thread_ranks(2, [](Communicator& communicator) {
    const auto send = contribution(communicator, 100);
    std::vector<float> recv(100);
    Operation operation(communicator.executor(), allreduce(send, recv));
    for (int round = 0; round < 300; ++round) {
      ASSERT_TRUE(operation.start(StartedFor::kWorkers).ok());
      ASSERT_TRUE(operation.wait(kNever).ok());
    }
    for (int round = 0; round < 5; ++round) {
      ASSERT_TRUE(operation.start(StartedFor::kWorkers).ok());
      while (!operation.done()) std::this_thread::yield();
      EXPECT_EQ(recv, std::vector<float>(100, sum_of_ranks(communicator)));
    }
  });
}

TEST(Communicator, QueuedOperationsEndInOrderWhoeverDrivesThem) {
  run_thread_ranks(3, [](Communicator& communicator) {
    constexpr size_t kOperations = 50;
    const auto send = contribution(communicator, 2000);
    std::vector<std::vector<float>> recv(kOperations, std::vector<float>(2000));
    std::vector<std::unique_ptr<Operation>> operations;
    for (auto& buffer : recv) {
      operations.push_back(
          std::make_unique<Operation>(communicator.executor(), allreduce(send, buffer)));
      ASSERT_TRUE(operations.back()->start(StartedFor::kWorkers).ok());
    }
    // The last first: all before it must have ended then.
    ASSERT_TRUE(operations.back()->wait(kNever).ok());
    for (size_t i = 0; i < kOperations; ++i) {
      EXPECT_TRUE(operations[i]->done());
      ASSERT_TRUE(operations[i]->wait(kNever).ok());
      EXPECT_EQ(recv[i], std::vector<float>(2000, sum_of_ranks(communicator)));
    }
  });
}

TEST(Communicator, ABlockingCallAfterQueuedOnesKeepsTheOrder) {
  run_thread_ranks(2, [](Communicator& communicator) {
    for (int round = 0; round < 100; ++round) {
      const auto send = contribution(communicator, 500);
      std::vector<float> first(500);
      std::vector<float> second(500);
      Operation operation(communicator.executor(), allreduce(send, first));
      ASSERT_TRUE(operation.start(StartedFor::kWorkers).ok());
      ASSERT_TRUE(communicator.executor().run(allreduce(send, second)).ok());
      EXPECT_TRUE(operation.done());
      EXPECT_EQ(first, second);
    }
  });
}

TEST(Communicator, CompletionIsCalledOnceWithTheOutcome) {
  run_thread_ranks(2, [](Communicator& communicator) {
    const auto send = contribution(communicator, 10);
    std::vector<float> recv(10);
    std::atomic<int> calls{0};
    Operation operation(communicator.executor(), allreduce(send, recv));
    operation.on_complete(
        [](tutti_status status, const char*, void* context) {
          EXPECT_EQ(status, TUTTI_OK);
          static_cast<std::atomic<int>*>(context)->fetch_add(1);
        },
        &calls);
    for (int round = 1; round <= 20; ++round) {
      ASSERT_TRUE(operation.start(StartedFor::kWorkers).ok());
      ASSERT_TRUE(operation.wait(kNever).ok());
      EXPECT_EQ(calls.load(), round);
    }
  });
}

TEST(Communicator, MismatchedCallsEndOnEveryRankWithBothCalls) {
  run_thread_ranks(3, [](Communicator& communicator) {
    const size_t count = communicator.rank() == 1 ? 5 : 4;
    const auto send = contribution(communicator, count);
    std::vector<float> recv(count);
    const Status status = communicator.executor().run(allreduce(send, recv));
    EXPECT_EQ(status.code(), Code::kMismatch);
    EXPECT_NE(status.message().find("(4 float32, sum)"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("(5 float32, sum)"), std::string::npos) << status.message();
  });
}

TEST(Communicator, MismatchedCountsOfOneMaximumAreTold) {
  run_thread_ranks(2, [](Communicator& communicator) {
    const bool first = communicator.rank() == 0;
    const BlockLayout all = first ? BlockLayout{{8, 4}, {0, 8}} : BlockLayout{{8, 5}, {0, 8}};
    const uint64_t own = all.counts[static_cast<size_t>(communicator.rank())];
    std::vector<int8_t> data(32);
    Call call;
    call.collective = Collective::kAllgatherv;
    call.type = DataType::kInt8;
    call.count = 8;
    call.send = data.data();
    call.recv = data.data() + 16;
    call.layouts = std::make_shared<const BlockLayouts>(BlockLayouts{{{own}, {0}}, all});
    const Status status = communicator.executor().run(call);
    EXPECT_EQ(status.code(), Code::kMismatch);
    EXPECT_NE(status.message().find("the count for rank 1 differs"), std::string::npos)
        << status.message();
  });
}

TEST(Communicator, AbortEndsACallThatWaitsAndNamesTheReason) {
  run_thread_ranks(2, [](Communicator& communicator) {
    if (communicator.rank() == 1) {
      communicator.health().abort("enough");
      return;
    }
    const auto send = contribution(communicator, 4);
    std::vector<float> recv(4);
    const Status status = communicator.executor().run(allreduce(send, recv));
    EXPECT_EQ(status.code(), Code::kAborted);
    EXPECT_NE(status.message().find("enough"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("allreduce #1"), std::string::npos) << status.message();
  });
}

TEST(Communicator, AnEndedCommunicatorIsNamedToWhoStillCalls) {
  run_thread_ranks(2, [](Communicator& communicator) {
    if (communicator.rank() == 1) {
      EXPECT_TRUE(communicator.close().ok());
      return;
    }
    const auto send = contribution(communicator, 4);
    std::vector<float> recv(4);
    const Status status = communicator.executor().run(allreduce(send, recv));
    EXPECT_EQ(status.code(), Code::kPeerFailed);
    EXPECT_NE(status.message().find("rank 1"), std::string::npos) << status.message();
  });
}

TEST(Communicator, ATimeoutNamesTheRankThatIsLate) {
  run_thread_ranks(2, [](Communicator& communicator) {
    const auto send = contribution(communicator, 4);
    std::vector<float> recv(4);
    if (communicator.rank() == 1) {
      // Ended by the other rank's timeout, which breaks the communicator for both.
      while (communicator.health().cause().ok()) std::this_thread::yield();
      return;
    }
    communicator.executor().set_timeout(20);
    const Status status = communicator.executor().run(allreduce(send, recv));
    EXPECT_EQ(status.code(), Code::kTimeout);
    EXPECT_NE(status.message().find("rank 1"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("has not entered"), std::string::npos) << status.message();
  });
}

TEST(Communicator, MessagesOfSeveralThreadsFindTheirReceivers) {
  run_thread_ranks(3, [](Communicator& communicator) {
    const int next = (communicator.rank() + 1) % communicator.ranks();
    constexpr int kMessages = 200;
    std::thread sender([&] {
      for (int tag = 0; tag < kMessages; ++tag) {
        int value = communicator.rank() * 1000 + tag;
        EXPECT_TRUE(communicator.messages()
                        .run({.sends = true,
                              .type = DataType::kInt32,
                              .peer = next,
                              .tag = tag,
                              .buffer = &value,
                              .count = 1},
                             nullptr)
                        .ok());
      }
    });
    // Backwards, so that most are unexpected when they arrive.
    const int previous = (communicator.rank() + 2) % communicator.ranks();
    for (int tag = kMessages - 1; tag >= 0; --tag) {
      int value = -1;
      const Status status = communicator.messages().run({.sends = false,
                                                         .type = DataType::kInt32,
                                                         .peer = previous,
                                                         .tag = tag,
                                                         .buffer = &value,
                                                         .count = 1},
                                                        nullptr);
      EXPECT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(value, previous * 1000 + tag);
    }
    sender.join();
  });
}

TEST(Communicator, SplitsByColorAndKey) {
  run_thread_ranks(4, [](Communicator& communicator) {
    CommunicatorConfig config = communicator.config();
    config.name = "half";
    const int color = communicator.rank() % 2;
    auto half = communicator.split(color, -communicator.rank(), config);
    ASSERT_TRUE(half.ok()) << half.status().message();
    ASSERT_EQ((*half)->ranks(), 2);
    EXPECT_EQ((*half)->rank(), communicator.rank() < 2 ? 1 : 0);
    const std::vector<float> send(3, static_cast<float>(communicator.rank()));
    std::vector<float> recv(3);
    ASSERT_TRUE((*half)->executor().run(allreduce(send, recv)).ok());
    EXPECT_EQ(recv, std::vector<float>(3, color == 0 ? 2.0f : 4.0f));
  });
}

}  // namespace
}  // namespace tutti
