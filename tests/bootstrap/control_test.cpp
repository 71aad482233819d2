// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The line that stays open after the meeting: what each rank learns of the others. Odd ranks come
// as if from other hosts, over connections of their own or over the one of a relay.
#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "bootstrap/meeting.hpp"
#include "support/processes.hpp"

namespace tutti {
namespace {

using tutti_test::await;
using tutti_test::error_of;
using tutti_test::free_address;
using tutti_test::kill_myself;
using tutti_test::kLimit;
using tutti_test::kLongMs;
using tutti_test::meet;
using tutti_test::network_id;
using tutti_test::run_processes;
using tutti_test::says;
using tutti_test::Shared;
using Kind = ControlNews::Kind;

class Together : public testing::TestWithParam<Via> {
 protected:
  // Runs the body in each of these ranks once it has met the others, with its connection.
  static void run_met(int ranks, const std::vector<int>& killed,
                      const std::function<void(int, std::unique_ptr<Control>)>& body) {
    const UniqueId id = network_id();
    run_processes({ranks, kLimit, killed}, [&](int rank) {
      const auto exchange = meet(id, rank, ranks, kLongMs, rank % 2 == 1 ? GetParam() : Via::kAny);
      EXPECT_TRUE(!exchange.ok() || (*exchange)->allgather({}).ok());
      auto control = tutti_test::stay(exchange);
      ASSERT_NE(control, nullptr);
      body(rank, std::move(control));
    });
  }
};

bool has_news(const Control& control, int64_t wait_ms) {
  return wait_for(control.fd(), POLLIN, now_ms() + wait_ms);
}

// The next `count` pieces of news; others may have come with them.
std::vector<ControlNews> listen(Control& control, size_t count) {
  std::vector<ControlNews> all;
  while (all.size() < count && has_news(control, kLongMs)) {
    for (ControlNews& news : control.read()) all.push_back(std::move(news));
  }
  EXPECT_GE(all.size(), count);
  all.resize(count);
  return all;
}

std::string host_of_this_process() { return " on host " + host_name() + ")"; }

TEST_P(Together, AFailureIsToldToAllOthersWithItsCause) {
  Shared<std::atomic<int>> heard;
  run_met(4, {}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank == 1) {
      control->fail({Code::kAborted, "aborted by rank 1: " + std::string(10000, 'x')});
      control->fail({Code::kTimeout, "a later cause is not told"});
      await(*heard, 3);
      return;
    }
    const auto news = listen(*control, 1);
    EXPECT_EQ(news[0].kind, Kind::kFailed);
    EXPECT_EQ(news[0].rank, 1);
    EXPECT_EQ(news[0].cause.code(), Code::kAborted);
    EXPECT_TRUE(says(news[0].cause.message(), "aborted by rank 1: xxx"));
    ++*heard;
    await(*heard, 3);
  });
}

TEST_P(Together, ANoteGoesToTheRankItIsFor) {
  Shared<std::atomic<int>> done;
  run_met(4, {}, [&](int rank, std::unique_ptr<Control> control) {
    // To the next one; the last also to one that there is not.
    if (rank == 3) control->tell(17, {});
    const std::vector<std::byte> note(kMostNewsBytes, static_cast<std::byte>(rank));
    control->tell((rank + 1) % 4, note);
    const auto news = listen(*control, 1);
    EXPECT_EQ(news[0].kind, Kind::kTold);
    EXPECT_EQ(news[0].rank, (rank + 3) % 4);
    EXPECT_EQ(news[0].body,
              std::vector<std::byte>(kMostNewsBytes, static_cast<std::byte>((rank + 3) % 4)));
    ++*done;
    await(*done, 4);
    for (const ControlNews& more : control->read()) EXPECT_EQ(more.kind, Kind::kLeft);
  });
}

// More than a socket takes at once, while the receiver does not read yet.
TEST_P(Together, PagesOfMegabytesArriveWhole) {
  constexpr size_t kPages = 128;
  Shared<std::atomic<int>> shown;
  Shared<std::atomic<int>> done;
  run_met(2, {}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank == 1) {
      for (size_t i = 0; i < kPages; ++i) {
        control->send_page(0, std::vector<std::byte>(kMostPageBytes, static_cast<std::byte>(i)));
      }
      ++*shown;
      while (*done == 0) {
        if (has_news(*control, 10)) (void)control->read();
      }
      return;
    }
    await(*shown, 1);
    const auto news = listen(*control, kPages);
    for (size_t i = 0; i < news.size(); ++i) {
      EXPECT_EQ(news[i].kind, Kind::kPage);
      EXPECT_EQ(news[i].rank, 1);
      EXPECT_EQ(news[i].body, std::vector<std::byte>(kMostPageBytes, static_cast<std::byte>(i)));
    }
    ++*done;
  });
}

TEST_P(Together, ADeathIsToldToAllOthers) {
  Shared<std::array<std::atomic<int>, 2>> pids;
  Shared<std::atomic<int>> heard;
  run_met(5, {3, 4}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank >= 3) {  // one of this host, one that came over TCP
      (*pids)[static_cast<size_t>(rank - 3)] = getpid();
      kill_myself();
    }
    for (const ControlNews& news : listen(*control, 2)) {
      EXPECT_EQ(news.kind, Kind::kFailed);
      EXPECT_EQ(news.cause.code(), Code::kPeerFailed);
      const int pid = (*pids)[static_cast<size_t>(news.rank - 3)];
      EXPECT_EQ(news.cause.message(), "rank " + std::to_string(news.rank) + " (pid " +
                                          std::to_string(pid) + host_of_this_process() +
                                          " has died");
    }
    ++*heard;
    await(*heard, 3);
  });
}

TEST_P(Together, WhoLeavesIsNotDeadAlthoughItsProcessEnds) {
  Shared<std::atomic<int>> left;
  run_met(4, {}, [&](int rank, std::unique_ptr<Control> control) {
    // In this order. Rank 0's process, and with it the service, is gone then, and that is no news.
    await(*left, rank);
    if (rank == 0) {
      control.reset();
      ++*left;
      _exit(0);
    }
    const auto news = listen(*control, 1);
    EXPECT_EQ(news[0].kind, Kind::kLeft);
    EXPECT_EQ(news[0].rank, 0);
    while (has_news(*control, 0)) {
      for (const ControlNews& more : control->read()) EXPECT_EQ(more.kind, Kind::kLeft);
    }
    control.reset();
    ++*left;
  });
}

TEST_P(Together, TheServiceGoesOnAfterARankOfItsProcessHasLeft) {
  Shared<std::atomic<int>> done;
  run_met(3, {}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank == 0) {
      control.reset();
      return await(*done, 2);
    }
    if (rank == 1) {
      EXPECT_EQ(listen(*control, 1)[0].rank, 0);
      control->fail({Code::kAborted, "still heard"});
    } else {
      EXPECT_EQ(listen(*control, 2)[1].cause.message(), "still heard");
    }
    ++*done;
    await(*done, 2);
  });
}

TEST_P(Together, TheDeathOfTheServicesProcessIsTheLastNewsAndNamesIt) {
  Shared<std::atomic<int>> pid;
  run_met(3, {0}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank == 0) {
      *pid = getpid();
      kill_myself();
    }
    const auto news = listen(*control, 1);
    EXPECT_EQ(news[0].rank, 0);
    EXPECT_EQ(news[0].cause.message(),
              "rank 0 (pid " + std::to_string(*pid) + host_of_this_process() + " has died");
    EXPECT_FALSE(has_news(*control, 0));
    EXPECT_TRUE(control->read().empty());
    control->fail({Code::kAborted, "nobody hears it"});
  });
}

TEST_P(Together, AServiceInAProcessThatIsNoRankIsNamedAsThat) {
  const UniqueId id = network_id();
  Shared<std::atomic<int>> joined;
  run_processes({3, kLimit, {2}}, [&](int process) {
    if (process == 2) {
      EXPECT_TRUE(start_service(id, now_ms() + kLongMs).ok());
      await(*joined, 2);
      kill_myself();
    }
    auto exchange = join(id, process, 2, now_ms() + kLongMs, GetParam());
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    auto control = (*exchange)->stay();
    ASSERT_TRUE(control.ok()) << error_of(control);
    ++*joined;
    const auto news = listen(**control, 1);
    EXPECT_EQ(news[0].rank, -1);
    EXPECT_TRUE(says(news[0].cause.message(), "the process that keeps the ranks in touch (pid "));
  });
}

// The contributions of the next round, told by rank.
std::string next_round(Control& control) {
  std::string told;
  bool over = false;
  while (!over && has_news(control, kLongMs)) {
    for (const ControlNews& news : control.read()) {
      if (news.kind == Kind::kRegrouped) over = true;
      if (news.kind != Kind::kContribution) continue;
      told += std::to_string(news.rank) + ":" + std::to_string(news.body.size()) + " ";
    }
  }
  EXPECT_TRUE(over);
  return told;
}

ControlNews wait_for(Control& control, Kind kind) {
  while (has_news(control, kLongMs)) {
    for (const ControlNews& news : control.read()) {
      if (news.kind == kind) return news;
    }
  }
  ADD_FAILURE() << "nothing of the kind was told";
  return {};
}

TEST_P(Together, WhoIsLeftRegroups) {
  Shared<std::array<std::atomic<int>, 2>> over;
  run_met(5, {3}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank == 3) {
      usleep(20'000);
      kill_myself();
    }
    const std::vector<std::byte> contribution(static_cast<size_t>(rank * 10));
    ASSERT_TRUE(control->regroup(contribution).ok());
    EXPECT_EQ(next_round(*control), "0:0 1:10 2:20 4:40 ");
    ++(*over)[0];
    await((*over)[0], 4);
    if (rank == 2) return control->leave();
    if (rank == 1) {  // first thinks better of it; the note comes after that
      ASSERT_TRUE(control->regroup(contribution).ok());
      control->withdraw();
      EXPECT_EQ(wait_for(*control, Kind::kWithdrawn).rank, 0);
      control->tell(0, {});
    }
    if (rank == 0) {
      EXPECT_EQ(wait_for(*control, Kind::kTold).rank, 1);
    }
    ASSERT_TRUE(control->regroup({}).ok());
    EXPECT_EQ(next_round(*control), "0:0 1:0 4:0 ");
    ++(*over)[1];
    await((*over)[1], 3);
  });
}

TEST_P(Together, ManyThreadsMayUseItAtOnce) {
  run_met(2, {}, [&](int, std::unique_ptr<Control> control) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] { control->fail({Code::kAborted, "all at once"}); });
    }
    EXPECT_EQ(listen(*control, 1)[0].cause.message(), "all at once");
    for (std::thread& thread : threads) thread.join();
    threads.clear();
    for (int i = 0; i < 3; ++i) threads.emplace_back([&] { control->leave(); });
    for (std::thread& thread : threads) thread.join();
  });
}

// The service may write to one that is gone before it has read that it leaves.
TEST_P(Together, WhoHasLeftIsNotSaidToHaveDied) {
  constexpr int kRanks = 40;
  for (int round = 0; round < 5; ++round) {
    run_met(kRanks, {}, [&](int rank, std::unique_ptr<Control> control) {
      if (rank != 0) return;
      for (int left = 0; left + 1 < kRanks;) {
        ASSERT_TRUE(has_news(*control, kLongMs));
        for (const ControlNews& news : control->read()) {
          EXPECT_EQ(news.kind, Kind::kLeft) << news.cause.message();
          ++left;
        }
      }
    });
  }
}

TEST_P(Together, WhoLeavesInsteadOfStayingIsNamed) {
  const UniqueId id = network_id();
  run_processes({3, kLimit, {}}, [&](int rank) {
    auto exchange = meet(id, rank, 3, kLongMs, rank == 2 ? GetParam() : Via::kAny);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    if (rank == 2) return;
    auto control = (*exchange)->stay();
    EXPECT_EQ(control.status().code(), Code::kPeerFailed);
    EXPECT_TRUE(says(error_of(control), "rank 2 (pid "));
    EXPECT_TRUE(says(error_of(control), "left while the communicator was being made"));
  });
}

INSTANTIATE_TEST_SUITE_P(Control, Together, testing::Values(Via::kNetwork, Via::kRelay),
                         [](const auto& info) {
                           return info.param == Via::kRelay ? "ByRelay" : "ByNetwork";
                         });

}  // namespace
}  // namespace tutti
