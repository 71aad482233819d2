// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks that meet, and everything that can be wrong with them.
#include "bootstrap/service.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <span>

#include "bootstrap/meeting.hpp"
#include "bootstrap/wire.hpp"
#include "support/processes.hpp"

namespace tutti {
namespace {

using tutti_test::await;
using tutti_test::bytes;
using tutti_test::error_of;
using tutti_test::kill_myself;
using tutti_test::kLimit;
using tutti_test::kLongMs;
using tutti_test::meet;
using tutti_test::run_processes;
using tutti_test::says;
using tutti_test::Shared;
using tutti_test::test_id;

TEST(Service, GivesEveryRankTheBytesOfAllInRankOrder) {
  const UniqueId id = test_id();
  run_processes({5, kLimit, {}}, [&](int rank) {
    auto exchange = meet(id, rank, 5);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    for (int round = 0; round < 20; ++round) {
      const auto size = static_cast<size_t>(round == 7 ? 4096 : rank * round);
      const std::string mine(size, static_cast<char>('a' + rank));
      auto all = (*exchange)->allgather(bytes(mine));
      ASSERT_TRUE(all.ok()) << error_of(all);
      ASSERT_EQ(all->size(), 5u);
      for (int r = 0; r < 5; ++r) {
        const auto expected = static_cast<size_t>(round == 7 ? 4096 : r * round);
        EXPECT_EQ((*all)[static_cast<size_t>(r)],
                  bytes(std::string(expected, static_cast<char>('a' + r))));
      }
    }
  });
}

TEST(Service, MayStartAfterTheOthersCame) {
  const UniqueId id = test_id();
  Shared<std::atomic<int>> arriving;
  run_processes({3, kLimit, {}}, [&](int rank) {
    if (rank == 0) {
      await(*arriving, 2);
      usleep(50000);
    }
    ++*arriving;
    auto exchange = meet(id, rank, 3);
    EXPECT_TRUE(exchange.ok()) << error_of(exchange);
  });
}

TEST(Service, NamesTheRanksThatDidNotArriveToAllThatDid) {
  const UniqueId id = test_id();
  run_processes({2, kLimit, {}}, [&](int rank) {
    auto exchange = meet(id, rank, 4, 300);
    EXPECT_EQ(exchange.status().code(), Code::kTimeout);
    EXPECT_TRUE(says(error_of(exchange), "ranks 2, 3 of 4 did not arrive within"));
  });
}

TEST(Service, SaysThatItMayOpenNoMoreFilesWhereThatKeepsRanksOut) {
  if (tutti_test::kSanitized) GTEST_SKIP() << "sanitizers open files to look at memory";
  const UniqueId id = test_id();
  Shared<std::atomic<int>> ended;
  Shared<std::atomic<int>> told;
  run_processes({8, kLimit, {}}, [&](int process) {
    if (process == 0) {  // the service alone, with room for some of the ranks
      const int next = dup(0);
      close(next);
      const rlimit few{static_cast<rlim_t>(next) + 4, static_cast<rlim_t>(next) + 4};
      ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
      ASSERT_TRUE(start_service(id, now_ms() + kLongMs).ok());
      return await(*ended, 7);
    }
    const auto exchange = meet(id, process, 8, 500);
    EXPECT_EQ(exchange.status().code(), Code::kTimeout);
    const bool knows = says(error_of(exchange), "of 8 did not arrive within") &&
                       says(error_of(exchange), "each other host: raise its limit (ulimit");
    if (knows) ++*told;
    ++*ended;
  });
  EXPECT_GE(told->load(), 1) << "those that were let in";
}

TEST(Service, PutsNewcomersThatCameFirstBehindTheRanks) {
  const UniqueId id = test_id();
  Shared<std::atomic<int>> arriving;
  run_processes({4, kLimit, {}}, [&](int process) {
    const bool is_new = process > 1;
    if (process == 0) {
      ASSERT_TRUE(start_service(id, kNever).ok());
    }
    if (!is_new) {
      await(*arriving, 2);
      usleep(50000);
    }
    ++*arriving;
    const Joiner joiner{
        .rank = is_new ? process - 2 : process, .ranks = is_new ? 0 : 4, .newcomers = 2};
    auto exchange = join(id, joiner, now_ms() + kLongMs);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    EXPECT_EQ((*exchange)->rank(), process);
    EXPECT_EQ((*exchange)->ranks(), 4);
  });
}

TEST(Service, NamesBothProcessesOfARankThatArrivedTwice) {
  const UniqueId id = test_id();
  run_processes({3, kLimit, {}}, [&](int process) {
    const int rank = process == 0 ? 0 : 1;
    auto exchange = meet(id, rank, 3);
    EXPECT_EQ(exchange.status().code(), Code::kInvalidArgument);
    EXPECT_TRUE(says(error_of(exchange), "rank 1 arrived twice: pid "));
    if (rank == 1) {
      EXPECT_TRUE(says(error_of(exchange), std::to_string(getpid())));
    }
  });
}

TEST(Service, NamesARankOutOfRange) {
  const UniqueId id = test_id();
  run_processes({2, kLimit, {}}, [&](int process) {
    auto exchange = meet(id, process == 0 ? 0 : 7, 2);
    EXPECT_TRUE(says(error_of(exchange), "rank 7 (pid "));
  });
}

TEST(Service, NamesRanksThatDisagreeOnHowManyThereAre) {
  const UniqueId id = test_id();
  run_processes({2, kLimit, {}}, [&](int rank) {
    auto exchange = meet(id, rank, rank == 0 ? 2 : 4);
    EXPECT_EQ(exchange.status().code(), Code::kInvalidArgument);
    EXPECT_TRUE(says(error_of(exchange), "said there are"));
    EXPECT_TRUE(says(error_of(exchange), "rank 0"));
    EXPECT_TRUE(says(error_of(exchange), "rank 1"));
  });
}

TEST(Service, TellsLateComersToo) {
  const UniqueId id = test_id();
  Shared<std::atomic<int>> failed;
  run_processes({3, kLimit, {}}, [&](int process) {
    if (process == 2) await(*failed, 2);
    auto exchange = meet(id, process == 2 ? 1 : process, process == 1 ? 4 : 3);
    EXPECT_TRUE(says(error_of(exchange), "said there are"));
    ++*failed;
    await(*failed, 3);  // the service lives in process 0
  });
}

TEST(Service, RefusesAnotherSecretAndServesOnForTheRest) {
  const UniqueId id = test_id();
  Shared<std::atomic<int>> refused;
  run_processes({3, kLimit, {}}, [&](int process) {
    if (process == 2) {
      UniqueId other = id;
      other.secret[0] ^= std::byte{1};
      auto exchange = meet(other, 1, 2);
      EXPECT_TRUE(says(error_of(exchange), "the secret is wrong"));
      ++*refused;
      return;
    }
    if (process == 1) await(*refused, 1);
    auto exchange = meet(id, process, 2);
    EXPECT_TRUE(exchange.ok()) << error_of(exchange);
  });
}

TEST(Service, IsNotDisturbedByGarbage) {
  const UniqueId id = test_id();
  Shared<std::atomic<int>> done;
  run_processes({3, kLimit, {}}, [&](int process) {
    if (process < 2) {
      if (process == 1) await(*done, 1);
      auto exchange = meet(id, process, 2);
      EXPECT_TRUE(exchange.ok()) << error_of(exchange);
      return;
    }
    const std::string name = bootstrap::socket_name(id.name);
    for (int attempt = 0; attempt < 300;) {
      Fd socket;
      if (connect_abstract(name, SocketType::kStream, socket) != 0) continue;
      std::string garbage(static_cast<size_t>(attempt * 7 % 5000), static_cast<char>(attempt * 37));
      (void)send(socket.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
      // A frame of the greatest length that is allowed, cut short.
      const uint32_t length = bootstrap::kMostFrameBytes;
      if (attempt % 3 == 0) (void)send(socket.get(), &length, sizeof length, MSG_NOSIGNAL);
      ++attempt;
    }
    ++*done;
  });
}

TEST(Service, NamesARankThatDiedWhileTheOthersWait) {
  const UniqueId id = test_id();
  Shared<std::atomic<int>> died;
  run_processes({3, std::chrono::seconds(60), {2}}, [&](int rank) {
    auto exchange = meet(id, rank, 3);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    if (rank == 2) kill_myself();
    auto all = (*exchange)->allgather({});
    EXPECT_EQ(all.status().code(), Code::kPeerFailed);
    EXPECT_TRUE(says(error_of(all), "rank 2 (pid "));
  });
}

TEST(Service, NamesARankThatStopsTakingPart) {
  const UniqueId id = test_id();
  Shared<std::atomic<int>> told;
  run_processes({2, kLimit, {}}, [&](int rank) {
    auto exchange = meet(id, rank, 2, 500);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    if (rank == 1) return await(*told, 1);
    auto all = (*exchange)->allgather({});
    EXPECT_EQ(all.status().code(), Code::kTimeout);
    EXPECT_TRUE(says(error_of(all), "rank 1 of 2 stopped taking part"));
    ++*told;
  });
}

// The process that runs the service may end as soon as its rank has said that it failed.
TEST(Service, TellsAllWhyOneRankCannotGoOn) {
  for (const int failing : {0, 1}) {
    const UniqueId id = test_id();
    run_processes({3, kLimit, {}}, [&](int rank) {
      auto exchange = meet(id, rank, 3);
      ASSERT_TRUE(exchange.ok()) << error_of(exchange);
      if (rank == failing) {
        const Status mine(Code::kUnsupported, "no way on");
        EXPECT_EQ((*exchange)->fail(mine).message(), "no way on");
        EXPECT_EQ((*exchange)->allgather({}).status().message(), "no way on");
        return;
      }
      if (rank == 2) usleep(20000);
      const auto all = (*exchange)->allgather({});
      EXPECT_EQ(all.status().code(), Code::kUnsupported);
      EXPECT_TRUE(says(error_of(all), fmt::format("rank {} (pid ", failing)));
      EXPECT_TRUE(says(error_of(all), "): no way on"));
      // What followed from it is not what it was.
      const Status later(Code::kPeerFailed, "it does not answer");
      EXPECT_EQ((*exchange)->fail(later).message(), error_of(all));
    });
  }
}

TEST(Service, TellsOfAFailureThatNobodyHasAskedFor) {
  const UniqueId id = test_id();
  run_processes({2, kLimit, {}}, [&](int rank) {
    auto exchange = meet(id, rank, 2);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    if (rank == 1) {
      (void)(*exchange)->fail({Code::kSystem, "no way on"});
      return;
    }
    while ((*exchange)->failure().ok()) usleep(1000);
    EXPECT_TRUE(says((*exchange)->failure().message(), "): no way on"));
    EXPECT_TRUE(says(error_of((*exchange)->allgather({})), "): no way on"));
  });
}

TEST(Service, TellsThoseThatComeLaterWhyARankStaysAway) {
  for (const int failing : {0, 1}) {
    const UniqueId id = test_id();
    Shared<std::atomic<int>> away;
    run_processes({3, kLimit, {}}, [&](int rank) {
      if (rank == failing) {
        if (rank == 0) {
          ASSERT_TRUE(start_service(id, kNever).ok());
        }
        ++*away;
        return stay_away(id, {.rank = rank, .ranks = 3}, {Code::kSystem, "no way in"}, kNever);
      }
      if (rank != 0) await(*away, 1);
      if (rank == 2) usleep(50000);
      const auto exchange = meet(id, rank, 3);
      EXPECT_EQ(exchange.status().code(), Code::kSystem);
      EXPECT_TRUE(says(error_of(exchange), fmt::format("rank {} (pid ", failing)));
      EXPECT_TRUE(says(error_of(exchange), "): no way in"));
    });
  }
}

TEST(Service, ThatCannotStartStillTellsAllWhy) {
  const UniqueId id = test_id();
  run_processes({3, kLimit, {}}, [&](int rank) {
    if (rank == 0) return serve_failure(id, 0, 3, {Code::kSystem, "no thread"}, kNever);
    const auto exchange = meet(id, rank, 3);
    EXPECT_EQ(exchange.status().code(), Code::kSystem);
    EXPECT_TRUE(says(error_of(exchange), "rank 0 (pid "));
    EXPECT_TRUE(says(error_of(exchange), "): no thread"));
  });
}

TEST(Service, OfAnIdThatIsGivenBackEnds) {
  const UniqueId id = test_id();
  run_processes({1, kLimit, {}}, [&](int) {
    EXPECT_TRUE(release(id).ok()) << "nobody serves it";
    for (int life = 0; life < 3; ++life) {
      ASSERT_TRUE(start_service(id, now_ms() + kLongMs).ok()) << "its place is free again";
      const Status released = release(id);
      EXPECT_TRUE(released.ok()) << released.message();
    }
  });
}

TEST(Service, IsLeftAloneByAnIdThatIsGivenBackAfterAllHaveMet) {
  const UniqueId id = test_id();
  run_processes({2, kLimit, {}}, [&](int rank) {
    auto exchange = meet(id, rank, 2);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    EXPECT_TRUE(release(id).ok());
    const auto all = (*exchange)->allgather({});
    EXPECT_TRUE(all.ok()) << error_of(all);
  });
}

TEST(Service, AnIdIsGoodForOneCommunicator) {
  const UniqueId id = test_id();
  Shared<std::atomic<int>> met;
  Shared<std::atomic<int>> refused;
  run_processes({3, kLimit, {}}, [&](int process) {
    if (process == 2) {
      await(*met, 2);
      UniqueId made = id;
      made.maker_pid = 1;  // a derived id would be tried again until the deadline
      auto exchange = join(made, 1, 2, now_ms() + kLongMs);
      EXPECT_TRUE(says(error_of(exchange), "comes after all 2 ranks have met"));
      ++*refused;
      return;
    }
    auto exchange = meet(id, process, 2);
    EXPECT_TRUE(exchange.ok()) << error_of(exchange);
    ++*met;
    await(*refused, 1);
  });
}

TEST(Service, ADerivedIdServesOneProgramAfterTheOther) {
  const UniqueId id = test_id();
  run_processes({3, kLimit, {}}, [&](int rank) {
    for (int life = 0; life < 20; ++life) {
      auto exchange = meet(id, rank, 3);
      ASSERT_TRUE(exchange.ok()) << error_of(exchange);
      // The ranks leave at different times.
      if (rank == life % 3) usleep(2000);
    }
  });
}

TEST(Service, NobodyAtTheMeetingPlaceIsATimeoutThatSaysSo) {
  auto exchange = join(test_id(), 0, 2, now_ms() + 50);
  EXPECT_EQ(exchange.status().code(), Code::kTimeout);
  EXPECT_TRUE(says(error_of(exchange), "nobody answers at the meeting place"));
}

TEST(Service, ATakenMeetingPlaceIsAnError) {
  const UniqueId id = test_id();
  Fd taken;
  ASSERT_EQ(listen_abstract(bootstrap::socket_name(id.name), SocketType::kStream, 1, taken), 0);
  const Status status = start_service(id, now_ms() + 50);
  EXPECT_TRUE(says(std::string(status.message()), "is taken"));
}

TEST(Service, EndsWhenAllHaveLeftSoThatItsPlaceIsFreeAgain) {
  const UniqueId id = test_id();
  run_processes({1, kLimit, {}}, [&](int) {
    for (int life = 0; life < 3; ++life) {
      auto exchange = meet(id, 0, 1);
      EXPECT_TRUE(exchange.ok()) << error_of(exchange);
    }
  });
}

TEST(Exchange, AloneGivesBackItsOwn) {
  auto all = exchange_alone()->allgather(bytes("x"));
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(*all, std::vector<std::vector<std::byte>>{bytes("x")});
}

}  // namespace
}  // namespace tutti
