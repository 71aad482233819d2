// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks that join a communicator that others have already.
#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

// The host of each process; the first `old` of them have a communicator, the others join it.
struct Growth {
  std::string hosts;
  int old;
  std::vector<int> killed = {};
  [[nodiscard]] int count() const { return static_cast<int>(hosts.size()); }
  [[nodiscard]] int newcomers() const { return count() - old; }
};

void PrintTo(const Growth& growth, std::ostream* out) { *out << growth.hosts << growth.old; }

struct Side {
  int process;
  int newcomer;       // -1: an old rank
  tutti_comm_t comm;  // of the old ranks; null in a newcomer
  tutti_unique_id id;
};

// Runs `body` in each process, with one id to grow by.
void run_growth(const Growth& growth, const std::function<void(const Side&)>& body) {
  IdPipe first;
  IdPipe second;
  run_processes({.count = growth.count(), .killed = growth.killed}, [&](int process) {
    const char host = growth.hosts[static_cast<size_t>(process)];
    setenv("TUTTI_HOST_ID", std::string(1, host).c_str(), 1);
    Side side{.process = process, .newcomer = process - growth.old, .comm = nullptr, .id = {}};
    if (side.newcomer < 0) {
      side.newcomer = -1;
      const auto id = process == 0 ? first.make(growth.old - 1) : first.receive();
      ASSERT_OK(tutti_comm_create(&id, process, growth.old, nullptr, &side.comm));
    }
    side.id = process == 0 ? second.make(growth.count() - 1) : second.receive();
    body(side);
    (void)tutti_comm_destroy(side.comm);
  });
}

tutti_comm_config within(int init_timeout_ms) {
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  config.init_timeout_ms = init_timeout_ms;
  return config;
}

// What the process calls, whichever side it is on.
tutti_status grow(const Side& side, int newcomers, tutti_comm_t* grown, int init_timeout_ms = -1) {
  const tutti_comm_config config = within(init_timeout_ms);
  if (side.newcomer >= 0) {
    return tutti_comm_join(&side.id, side.newcomer, newcomers, &config, grown);
  }
  // One that knows the id is enough.
  const tutti_unique_id* id = side.process == 0 ? &side.id : nullptr;
  return tutti_comm_grow(side.comm, id, newcomers, &config, grown);
}

// That the ranks of `comm` are these processes, in this order, and can call one another.
void expect_processes(tutti_comm_t comm, int process, const std::vector<int>& expected) {
  int ranks = 0;
  ASSERT_OK(tutti_comm_size(comm, &ranks));
  std::vector<int> members(static_cast<size_t>(ranks));
  ASSERT_OK(tutti_allgather(&process, members.data(), 1, TUTTI_INT32, comm));
  EXPECT_EQ(members, expected);
  std::vector<int> sum(100'001, 1);
  ASSERT_OK(tutti_allreduce(sum.data(), sum.data(), sum.size(), TUTTI_INT32, TUTTI_SUM, comm));
  EXPECT_EQ(sum, std::vector<int>(sum.size(), ranks));
}

std::vector<int> first_processes(int count) {
  std::vector<int> processes;
  for (int process = 0; process < count; ++process) processes.push_back(process);
  return processes;
}

class Grow : public testing::TestWithParam<Growth> {};

TEST_P(Grow, PutsTheNewcomersBehindTheRanks) {
  const Growth& growth = GetParam();
  run_growth(growth, [&](const Side& side) {
    tutti_comm_t grown = nullptr;
    ASSERT_OK(grow(side, growth.newcomers(), &grown));
    int rank = -1;
    ASSERT_OK(tutti_comm_rank(grown, &rank));
    EXPECT_EQ(rank, side.process);
    expect_processes(grown, side.process, first_processes(growth.count()));
    if (side.comm != nullptr) {
      expect_processes(side.comm, side.process, first_processes(growth.old));
    }
    EXPECT_OK(tutti_comm_destroy(grown));
  });
}

class GrowWithout : public Grow {};

TEST_P(GrowWithout, TheLastNewcomerNamesIt) {
  const Growth& growth = GetParam();
  const Meeting over(growth.count());
  run_growth(growth, [&](const Side& side) {
    const int last = growth.count() - 1;
    if (side.process != last) {
      tutti_comm_t grown = nullptr;
      EXPECT_STATUS(TUTTI_ERR_TIMEOUT, grow(side, growth.newcomers(), &grown, 2000));
      EXPECT_ERROR_SAYS("rank " + std::to_string(last) + " of " + std::to_string(last + 1));
      EXPECT_ERROR_SAYS("(newcomers: " + std::to_string(growth.old) + " to ");
      EXPECT_EQ(grown, nullptr);
      if (side.comm != nullptr) {
        EXPECT_OK(tutti_comm_state(side.comm));
      }
    }
    over.wait();
  });
}

// A rank that dies before anybody meets: those that are left take the same newcomers in.
TEST_P(Grow, AfterAShrinkTakesTheSameId) {
  Growth growth = GetParam();
  if (growth.old < 2) GTEST_SKIP() << "nobody would be left";
  growth.killed = {growth.old - 1};
  run_growth(growth, [&](const Side& side) {
    tutti_comm_t grown = nullptr;
    Side left = side;
    if (side.comm != nullptr) {
      if (side.process == growth.killed[0]) kill_myself();
      EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, grow(side, growth.newcomers(), &grown));
      ASSERT_OK(tutti_comm_shrink(side.comm, nullptr, &left.comm));
    }
    ASSERT_OK(grow(left, growth.newcomers(), &grown));
    std::vector<int> expected = first_processes(growth.count());
    expected.erase(expected.begin() + growth.killed[0]);
    expect_processes(grown, side.process, expected);
    EXPECT_OK(tutti_comm_destroy(grown));
    if (left.comm != side.comm) {
      EXPECT_OK(tutti_comm_destroy(left.comm));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, GrowWithout, testing::Values(Growth{"aaaa", 2}, Growth{"aab", 2}),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Shapes, Grow,
                         testing::Values(Growth{"aaaa", 2}, Growth{"aaa", 1}, Growth{"aab", 2},
                                         Growth{"abab", 2}),
                         testing::PrintToStringParamName());

// An interrupt check that ends the process in the middle of a wait, once it has lasted for a
// second.
int die_while_waiting(void* /*context*/) {
  static int asked = 0;
  if (++asked == 20) kill_myself();
  return 0;
}

TEST(GrowthThatFails, NamesTheNewcomerThatDied) {
  const Meeting over(3);
  run_growth({.hosts = "aaaa", .old = 2, .killed = {3}}, [&](const Side& side) {
    tutti_comm_t grown = nullptr;
    if (side.process == 3) tutti_set_interrupt_check(die_while_waiting, nullptr);
    if (side.process == 2) return over.wait();  // so that the others wait
    EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, grow(side, 2, &grown));
    EXPECT_ERROR_SAYS("rank 3 (pid ");
    EXPECT_ERROR_SAYS("ended while the communicator was being made");
    over.wait();
  });
}

TEST(GrowthThatFails, NamesTheRankThatDiedToTheNewcomers) {
  const Meeting others(4);
  run_growth({.hosts = "aaaaa", .old = 3, .killed = {1}}, [&](const Side& side) {
    tutti_comm_t grown = nullptr;
    // It dies while it waits for newcomer 1.
    if (side.process == 1) tutti_set_interrupt_check(die_while_waiting, nullptr);
    if (side.newcomer != 1) {
      EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, grow(side, 2, &grown));
      EXPECT_ERROR_SAYS("rank 1 (pid ");
    }
    others.wait();
  });
}

TEST(GrowthThatFails, NamesTheRanksThatDoNotCome) {
  const Meeting over(3);
  run_growth({.hosts = "aaa", .old = 1}, [&](const Side& side) {
    tutti_comm_t grown = nullptr;
    if (side.newcomer == 0) {
      EXPECT_STATUS(TUTTI_ERR_TIMEOUT, grow(side, 2, &grown, 300));
      EXPECT_ERROR_SAYS(
          "the ranks of the communicator that is to grow and newcomer 1 of 2 did not");
    }
    over.wait();
  });
}

// Those who wait for rank 0's process, where they meet, learn no more once that has ended.
TEST(GrowthThatFails, NamesThoseOfDifferentOpinions) {
  const Meeting over(3);
  run_growth({.hosts = "aaa", .old = 2}, [&](const Side& side) {
    tutti_comm_t grown = nullptr;
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, grow(side, side.newcomer == 0 ? 3 : 1, &grown));
    EXPECT_ERROR_SAYS("ranks are new");
    EXPECT_ERROR_SAYS("newcomer 0");
    over.wait();
  });
}

TEST(GrowthThatFails, NamesTheNewcomerThatCameTwice) {
  const Meeting over(3);
  run_growth({.hosts = "aaa", .old = 1}, [&](const Side& side) {
    tutti_comm_t grown = nullptr;
    Side alike = side;
    alike.newcomer = std::min(side.newcomer, 0);
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, grow(alike, 2, &grown));
    EXPECT_ERROR_SAYS("newcomer 0 arrived twice: pid ");
    over.wait();
  });
}

TEST(GrowUsage, IsChecked) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    tutti_comm_t result = nullptr;
    tutti_unique_id id{};
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_grow(nullptr, &id, 1, nullptr, &result));
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_grow(comm, &id, 1, nullptr, nullptr));
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_grow(comm, &id, 0, nullptr, &result));
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_grow(comm, &id, 1, nullptr, &result));
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_join(&id, 0, 1, nullptr, &result));
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_join(nullptr, 0, 1, nullptr, &result));
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_join(&id, 1, 1, nullptr, &result));
    EXPECT_ERROR_SAYS("newcomer 1 of 1");
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_grow(comm, nullptr, 1, nullptr, &result));
    EXPECT_ERROR_SAYS("no rank gave an id");
    ASSERT_OK(tutti_get_unique_id(&id));
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_grow(comm, &id, 1, nullptr, &result));
    EXPECT_ERROR_SAYS("ranks 0 and 1 gave different ids");
    EXPECT_EQ(result, nullptr);
    EXPECT_OK(tutti_comm_state(comm));
    (void)rank;
  });
}

size_t entries_of(const char* folder) {
  DIR* const all = opendir(folder);
  size_t count = 0;
  while (readdir(all) != nullptr) ++count;
  closedir(all);
  return count;
}

// Descriptors and threads of this process.
size_t resources() { return entries_of("/proc/self/fd") + entries_of("/proc/self/task"); }

TEST(GrowAndShrink, OverAndOverLeaveNothingBehind) {
  constexpr int kRounds = 8;
  IdPipe ids;
  const Meeting over(3);
  run_growth({.hosts = "aaa", .old = 2}, [&](const Side& side) {
    tutti_comm_t comm = side.comm;
    size_t before = 0;
    for (int round = 0; round < kRounds; ++round) {
      const auto id = side.process == 0 ? ids.make(2) : ids.receive();
      tutti_comm_t grown = nullptr;
      if (side.newcomer >= 0) {
        ASSERT_OK(tutti_comm_join(&id, 0, 1, nullptr, &grown));
      } else {
        ASSERT_OK(tutti_comm_grow(comm, &id, 1, nullptr, &grown));
      }
      expect_processes(grown, side.process, {0, 1, 2});
      if (side.newcomer < 0) {
        tutti_comm_t smaller = nullptr;
        ASSERT_OK(tutti_comm_shrink(grown, nullptr, &smaller));
        expect_processes(smaller, side.process, {0, 1});
        if (comm != side.comm) {
          EXPECT_OK(tutti_comm_destroy(comm));
        }
        comm = smaller;
      }
      EXPECT_OK(tutti_comm_destroy(grown));
      if (round == 1) before = resources();
    }
    // The threads at which they met end a moment later.
    for (int looks = 0; looks < 5000 && resources() > before; ++looks) usleep(1000);
    EXPECT_LE(resources(), before);
    if (comm != side.comm) {
      EXPECT_OK(tutti_comm_destroy(comm));
    }
    over.wait();
  });
}

}  // namespace
}  // namespace tutti_test
