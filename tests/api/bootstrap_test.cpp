// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How ranks meet, and what they are told when they do not.
#include <arpa/inet.h>
#include <dirent.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/free_port.hpp"
#include "support/ranks.hpp"

namespace tutti_test {
namespace {

using std::chrono::seconds;

// A communicator that gives up soon when somebody is missing.
tutti_comm_config short_timeout() {
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  config.init_timeout_ms = 700;
  return config;
}

// In `processes` processes of which number i joins as rank as[i] of of[i], with one id.
struct Join {
  std::vector<int> as;
  std::vector<int> of;
};
void join(const Join& who, const std::function<void(int process, tutti_status)>& check) {
  IdPipe ids;
  Shared<std::atomic<int>> ended;
  const int count = static_cast<int>(who.as.size());
  run_processes({count, seconds(60), {}}, [&](int process) {
    const auto i = static_cast<size_t>(process);
    const tutti_unique_id id = process == 0 ? ids.make(count - 1) : ids.receive();
    const tutti_comm_config config = short_timeout();
    tutti_comm_t comm = nullptr;
    check(process, tutti_comm_create(&id, who.as[i], who.of[i], &config, &comm));
    tutti_comm_destroy(comm);
    // The first process holds the meeting place: it stays to the end.
    ended->fetch_add(1);
    while (process == 0 && ended->load() < count) usleep(1000);
  });
}

TEST(Bootstrap, ARankKnowsItsNumberAndTheSize) {
  run_ranks(3, [](int rank, tutti_comm_t comm) {
    int seen_rank = -1;
    int seen_size = -1;
    EXPECT_OK(tutti_comm_rank(comm, &seen_rank));
    EXPECT_OK(tutti_comm_size(comm, &seen_size));
    EXPECT_EQ(seen_rank, rank);
    EXPECT_EQ(seen_size, 3);
  });
}

TEST(Bootstrap, MissingRanksAreNamedToThoseThatCame) {
  join({{0, 2}, {4, 4}}, [](int, tutti_status status) {
    EXPECT_STATUS(TUTTI_ERR_TIMEOUT, status);
    EXPECT_ERROR_SAYS("1");
    EXPECT_ERROR_SAYS("3");
  });
}

TEST(Bootstrap, ARankThatCameTwiceIsNamed) {
  join({{0, 1, 1}, {3, 3, 3}}, [](int, tutti_status status) {
    EXPECT_NE(status, TUTTI_OK);
    EXPECT_ERROR_SAYS("rank 1");
  });
}

TEST(Bootstrap, RanksThatDisagreeOnTheirNumberAreToldBoth) {
  join({{0, 1}, {2, 3}}, [](int, tutti_status status) {
    EXPECT_NE(status, TUTTI_OK);
    EXPECT_ERROR_SAYS("2");
    EXPECT_ERROR_SAYS("3");
  });
}

TEST(Bootstrap, ARankOutsideTheRangeIsInvalidAtOnce) {
  run_processes({1, seconds(60), {}}, [](int) {
    tutti_unique_id id;
    ASSERT_OK(tutti_get_unique_id(&id));
    tutti_comm_t comm = nullptr;
    for (const auto& [rank, ranks] : {std::pair{2, 2}, {-1, 2}, {0, 0}, {0, -5}}) {
      EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT,
                    tutti_comm_create(&id, rank, ranks, nullptr, &comm));
      EXPECT_ERROR_SAYS(std::to_string(ranks < 1 ? ranks : rank));
      EXPECT_EQ(comm, nullptr);
    }
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_create(nullptr, 0, 1, nullptr, &comm));
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_create(&id, 0, 1, nullptr, nullptr));
  });
}

TEST(Bootstrap, BytesThatAreNoIdAreInvalid) {
  run_processes({1, seconds(60), {}}, [](int) {
    tutti_unique_id id;
    tutti_comm_t comm = nullptr;
    const tutti_comm_config config = short_timeout();
    for (const int byte : {0, 0xFF, 0x5A}) {
      std::memset(&id, byte, sizeof(id));
      EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_create(&id, 1, 2, &config, &comm));
      EXPECT_ERROR_SAYS("id");
    }
  });
}

TEST(Bootstrap, AnIdServesOnce) {
  run_processes({1, seconds(60), {}}, [](int) {
    tutti_unique_id id;
    tutti_comm_t first = nullptr;
    tutti_comm_t second = nullptr;
    const tutti_comm_config config = short_timeout();
    ASSERT_OK(tutti_get_unique_id(&id));
    ASSERT_OK(tutti_comm_create(&id, 0, 1, &config, &first));
    EXPECT_NE(tutti_comm_create(&id, 0, 1, &config, &second), TUTTI_OK);
    EXPECT_OK(tutti_comm_destroy(first));
  });
}

// What this process has open, and its threads.
size_t entries_in(const char* folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder), closedir);
  size_t count = 0;
  while (readdir(open.get()) != nullptr) ++count;
  return count;
}
size_t kept() { return entries_in("/proc/self/fd") + entries_in("/proc/self/task"); }

// A thread that has come to its end may still be there for a moment.
void expect_back(size_t before) {
  while (kept() > before) usleep(1000);
}

TEST(Bootstrap, AnIdThatIsReleasedKeepsNothing) {
  run_processes({1, seconds(60), {}}, [](int) {
    const size_t before = kept();
    tutti_unique_id id;
    ASSERT_OK(tutti_get_unique_id(&id));
    EXPECT_GT(kept(), before);
    EXPECT_OK(tutti_unique_id_release(&id));
    expect_back(before);
    EXPECT_OK(tutti_unique_id_release(&id)) << "once more";
    tutti_comm_t comm = nullptr;
    const tutti_comm_config config = short_timeout();
    EXPECT_STATUS(TUTTI_ERR_TIMEOUT, tutti_comm_create(&id, 0, 1, &config, &comm));
    EXPECT_ERROR_SAYS("was given back");
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_unique_id_release(nullptr));
    id.bytes[0] ^= 1;
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_unique_id_release(&id));
  });
}

TEST(Bootstrap, AnIdThatNobodyUsesForItsLifetimeKeepsNothing) {
  run_processes({1, seconds(60), {}}, [](int) {
    setenv("TUTTI_ID_LIFETIME_MS", "50", 1);
    const size_t before = kept();
    tutti_unique_id id;
    ASSERT_OK(tutti_get_unique_id(&id));
    expect_back(before);
  });
}

TEST(Bootstrap, AnIdThatOneRankHasUsedOutlivesItsLifetime) {
  IdPipe ids;
  run_processes({2, seconds(60), {}}, [&](int rank) {
    setenv("TUTTI_ID_LIFETIME_MS", "300", 1);
    const tutti_unique_id id = rank == 0 ? ids.make(1) : ids.receive();
    if (rank == 1) usleep(600000);
    tutti_comm_t comm = nullptr;
    ASSERT_OK(tutti_comm_create(&id, rank, 2, nullptr, &comm));
    EXPECT_OK(tutti_unique_id_release(&id)) << "which has no effect";
    EXPECT_OK(tutti_barrier(comm));
    EXPECT_OK(tutti_comm_destroy(comm));
  });
}

TEST(Bootstrap, RanksWithIdsOfDifferentJobsDoNotMeet) {
  run_processes({2, seconds(60), {}}, [](int rank) {
    tutti_unique_id id;
    tutti_comm_t comm = nullptr;
    const tutti_comm_config config = short_timeout();
    ASSERT_OK(tutti_get_unique_id(&id));
    EXPECT_STATUS(TUTTI_ERR_TIMEOUT, tutti_comm_create(&id, rank, 2, &config, &comm));
    EXPECT_ERROR_SAYS(std::to_string(1 - rank));
  });
}

TEST(Bootstrap, AnIntruderWithoutTheSecretDisturbsNobody) {
  IdPipe ids;
  run_processes({3, seconds(60), {}}, [&](int process) {
    tutti_unique_id id = process == 0 ? ids.make(2) : ids.receive();
    tutti_comm_t comm = nullptr;
    tutti_comm_config config = short_timeout();
    if (process == 2) {
      // One bit wrong anywhere makes it another id.
      for (size_t i = 0; i < sizeof(id.bytes); i += 9) {
        tutti_unique_id wrong = id;
        wrong.bytes[i] ^= 1;
        config.init_timeout_ms = 50;
        EXPECT_NE(tutti_comm_create(&wrong, 1, 2, &config, &comm), TUTTI_OK) << "byte " << i;
      }
      return;
    }
    config.init_timeout_ms = 30000;
    usleep(process == 1 ? 300000 : 0);
    ASSERT_OK(tutti_comm_create(&id, process, 2, &config, &comm));
    EXPECT_OK(tutti_barrier(comm));
    EXPECT_OK(tutti_comm_destroy(comm));
  });
}

TEST(Bootstrap, SeveralCommunicatorsOfOneProcessLiveSideBySide) {
  IdPipe ids[3];
  run_processes({2, seconds(60), {}}, [&](int rank) {
    tutti_comm_t comms[3] = {};
    for (int i = 0; i < 3; ++i) {
      const tutti_unique_id id = rank == 0 ? ids[i].make(1) : ids[i].receive();
      ASSERT_OK(tutti_comm_create(&id, rank, 2, nullptr, &comms[i]));
    }
    for (tutti_comm_t comm : comms) {
      int32_t x = 1;
      EXPECT_OK(tutti_allreduce(&x, &x, 1, TUTTI_INT32, TUTTI_SUM, comm));
      EXPECT_EQ(x, 2);
    }
    for (tutti_comm_t comm : comms) EXPECT_OK(tutti_comm_destroy(comm));
  });
}

TEST(Bootstrap, RanksMayBeThreadsOfOneProcess) {
  run_processes({1, seconds(60), {}}, [](int) {
    constexpr int kThreads = 3;
    tutti_unique_id id;
    ASSERT_OK(tutti_get_unique_id(&id));
    const auto run_rank = [&id](int rank) {
      tutti_comm_t comm = nullptr;
      ASSERT_OK(tutti_comm_create(&id, rank, kThreads, nullptr, &comm));
      for (int i = 0; i < 100; ++i) {
        int64_t x[300] = {rank + i};
        ASSERT_OK(tutti_allreduce(x, x, 300, TUTTI_INT64, TUTTI_SUM, comm));
        ASSERT_EQ(x[0], 3 * i + 3);
      }
      EXPECT_OK(tutti_comm_destroy(comm));
    };
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kThreads; ++rank) threads.emplace_back(run_rank, rank);
    for (std::thread& thread : threads) thread.join();
  });
}

// ---- split -------------------------------------------------------------------------------------

TEST(Split, GroupsByColorAndOrdersByKey) {
  run_ranks(5, [](int rank, tutti_comm_t comm) {
    tutti_comm_t part = nullptr;
    ASSERT_OK(tutti_comm_split(comm, rank % 2, -rank, nullptr, &part));
    int part_rank = -1;
    int part_size = -1;
    EXPECT_OK(tutti_comm_rank(part, &part_rank));
    EXPECT_OK(tutti_comm_size(part, &part_size));
    EXPECT_EQ(part_size, rank % 2 == 0 ? 3 : 2);
    EXPECT_EQ(part_rank, (rank % 2 == 0 ? 4 - rank : 3 - rank) / 2);
    int32_t sum = rank;
    EXPECT_OK(tutti_allreduce(&sum, &sum, 1, TUTTI_INT32, TUTTI_SUM, part));
    EXPECT_EQ(sum, rank % 2 == 0 ? 0 + 2 + 4 : 1 + 3);
    EXPECT_OK(tutti_comm_destroy(part));
  });
}

TEST(Split, WithNoColorGivesNoCommunicator) {
  run_ranks(3, [](int rank, tutti_comm_t comm) {
    tutti_comm_t part = nullptr;
    ASSERT_OK(tutti_comm_split(comm, rank == 1 ? TUTTI_NO_COLOR : 7, 0, nullptr, &part));
    EXPECT_EQ(part == nullptr, rank == 1);
    if (part != nullptr) {
      EXPECT_OK(tutti_barrier(part));
    }
    EXPECT_OK(tutti_comm_destroy(part));
  });
}

TEST(Split, ANegativeColorIsInvalid) {
  run_ranks(2, [](int, tutti_comm_t comm) {
    tutti_comm_t part = nullptr;
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_split(comm, -2, 0, nullptr, &part));
    EXPECT_ERROR_SAYS("-2");
    EXPECT_OK(tutti_barrier(comm));
  });
}

TEST(Split, ABrokenPartLeavesTheWholeAlone) {
  run_ranks(4, [](int rank, tutti_comm_t comm) {
    tutti_comm_t part = nullptr;
    ASSERT_OK(tutti_comm_split(comm, rank / 2, rank, nullptr, &part));
    if (rank == 3) {
      EXPECT_OK(tutti_comm_abort(part, "for the test"));
    }
    const tutti_status expected = rank < 2 ? TUTTI_OK : TUTTI_ERR_ABORTED;
    EXPECT_STATUS(expected, tutti_barrier(part));
    EXPECT_STATUS(expected, tutti_comm_destroy(part));
    EXPECT_OK(tutti_barrier(comm));
  });
}

// ---- the environment ---------------------------------------------------------------------------

void clear_launchers() {
  for (const char* name :
       {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
        "PMI_RANK", "PMI_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK"}) {
    unsetenv(name);
  }
}

TEST(FromEnvironment, OneProcessWithoutALauncherIsAloneInItsCommunicator) {
  run_processes({1, seconds(60), {}}, [](int) {
    clear_launchers();
    tutti_comm_t comm = nullptr;
    ASSERT_OK(tutti_comm_create_from_env(nullptr, &comm));
    int size = 0;
    EXPECT_OK(tutti_comm_size(comm, &size));
    EXPECT_EQ(size, 1);
    EXPECT_OK(tutti_barrier(comm));
    EXPECT_OK(tutti_comm_destroy(comm));
  });
}

void set_torchrun(int rank, int ranks, const std::string& port) {
  clear_launchers();
  setenv("RANK", std::to_string(rank).c_str(), 1);
  setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
  setenv("WORLD_SIZE", std::to_string(ranks).c_str(), 1);
  setenv("LOCAL_WORLD_SIZE", std::to_string(ranks).c_str(), 1);
  setenv("MASTER_ADDR", "127.0.0.1", 1);
  setenv("MASTER_PORT", port.c_str(), 1);
}

TEST(FromEnvironment, TorchrunsVariablesMakeACommunicator) {
  const std::string port = free_port();
  run_processes({3, seconds(60), {}}, [&](int rank) {
    set_torchrun(rank, 3, port);
    tutti_comm_t comm = nullptr;
    ASSERT_OK(tutti_comm_create_from_env(nullptr, &comm));
    int32_t sum = rank;
    EXPECT_OK(tutti_allreduce(&sum, &sum, 1, TUTTI_INT32, TUTTI_SUM, comm));
    EXPECT_EQ(sum, 3);
    EXPECT_OK(tutti_comm_destroy(comm));
  });
}

TEST(KnownPlace, RanksMeetThereWithoutHandingAnythingOn) {
  const std::string place = "127.0.0.1:" + free_port();
  run_processes({3, seconds(60), {}}, [&](int rank) {
    setenv("TUTTI_MEETING_SECRET", "a secret of this job", 1);
    for (int round = 0; round < 3; ++round) {
      tutti_unique_id id;
      ASSERT_OK(tutti_unique_id_at(place.c_str(), &id));
      tutti_comm_t comm = nullptr;
      ASSERT_OK(tutti_comm_create(&id, rank, 3, nullptr, &comm));
      int32_t sum = rank;
      EXPECT_OK(tutti_allreduce(&sum, &sum, 1, TUTTI_INT32, TUTTI_SUM, comm));
      EXPECT_EQ(sum, 3);
      EXPECT_OK(tutti_comm_destroy(comm));
    }
  });
}

TEST(KnownPlace, WhoeverHasAnotherSecretDoesNotGetIn) {
  const std::string place = "127.0.0.1:" + free_port();
  run_processes({2, seconds(60), {}}, [&](int rank) {
    setenv("TUTTI_MEETING_SECRET", rank == 0 ? "right" : "wrong", 1);
    tutti_unique_id id;
    ASSERT_OK(tutti_unique_id_at(place.c_str(), &id));
    const tutti_comm_config config = short_timeout();
    tutti_comm_t comm = nullptr;
    EXPECT_NE(tutti_comm_create(&id, rank, 2, &config, &comm), TUTTI_OK);
    EXPECT_EQ(comm, nullptr);
  });
}

TEST(KnownPlace, TheSecretMayBeInAFile) {
  const std::string path = testing::TempDir() + "secret." + std::to_string(getpid());
  std::ofstream(path) << "a secret of this job\n";
  run_processes({1, seconds(60), {}}, [&](int) {
    tutti_unique_id given;
    tutti_unique_id read;
    tutti_unique_id other;
    setenv("TUTTI_MEETING_SECRET", "a secret of this job", 1);
    ASSERT_OK(tutti_unique_id_at("localhost:4000", &given));
    setenv("TUTTI_MEETING_SECRET", ("file:" + path).c_str(), 1);
    ASSERT_OK(tutti_unique_id_at("localhost_4000", &read));
    setenv("TUTTI_MEETING_SECRET", "another", 1);
    ASSERT_OK(tutti_unique_id_at("localhost:4000", &other));
    EXPECT_EQ(std::memcmp(given.bytes, read.bytes, sizeof(given.bytes)), 0);
    EXPECT_NE(std::memcmp(given.bytes, other.bytes, sizeof(given.bytes)), 0);
    setenv("TUTTI_MEETING_SECRET", "file:/nowhere", 1);
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_unique_id_at("localhost:4000", &read));
    EXPECT_ERROR_SAYS("TUTTI_MEETING_SECRET is \"file:/nowhere\"");
  });
  std::remove(path.c_str());
}

TEST(KnownPlace, APlaceThatIsNoneIsNamed) {
  tutti_unique_id id;
  for (const char* place : {"", "4000", ":4000", "localhost:", "localhost:0", "localhost:65536",
                            "localhost:http", "localhost"}) {
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_unique_id_at(place, &id));
    EXPECT_ERROR_SAYS("port");
  }
  EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_unique_id_at(nullptr, &id));
  EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_unique_id_at("localhost:4000", nullptr));
}

TEST(FromEnvironment, AMissingRankIsNamed) {
  const std::string port = free_port();
  run_processes({2, seconds(60), {}}, [&](int rank) {
    set_torchrun(rank, 3, port);
    tutti_comm_t comm = nullptr;
    const tutti_comm_config config = short_timeout();
    EXPECT_STATUS(TUTTI_ERR_TIMEOUT, tutti_comm_create_from_env(&config, &comm));
    EXPECT_ERROR_SAYS("2");
  });
}

struct BadVariable {
  const char* name;
  const char* value;
};

class BadVariables : public testing::TestWithParam<BadVariable> {};

TEST_P(BadVariables, AreNamedWithTheirValue) {
  run_processes({1, seconds(60), {}}, [](int) {
    clear_launchers();
    setenv(GetParam().name, GetParam().value, 1);
    tutti_comm_t comm = nullptr;
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_create_from_env(nullptr, &comm));
    EXPECT_ERROR_SAYS(GetParam().name);
    EXPECT_ERROR_SAYS(GetParam().value);
  });
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadVariables,
    testing::Values(BadVariable{"CCL_WORKER_COUNT", "abc"}, BadVariable{"CCL_WORKER_COUNT", "0"},
                    BadVariable{"CCL_WORKER_COUNT", "-4"}, BadVariable{"CCL_WORKER_COUNT", "2x"},
                    BadVariable{"CCL_WORKER_AFFINITY", "0,1,0,1,0"},
                    BadVariable{"CCL_WORKER_AFFINITY", "9999"},
                    BadVariable{"CCL_WORKER_AFFINITY", "3-1"}, BadVariable{"CCL_LOG_LEVEL", "loud"},
                    BadVariable{"TUTTI_TIMEOUT_MS", "soon"}, BadVariable{"TUTTI_STRICT", "perhaps"},
                    BadVariable{"TUTTI_SHM_CHUNK_BYTES", "1q"},
                    BadVariable{"TUTTI_SHM_WINDOW_BYTES", "1"},
                    BadVariable{"CCL_ALLREDUCE", "no_such_algorithm"},
                    BadVariable{"CCL_ALLREDUCE", "ring:5-2"}, BadVariable{"RANK", "one"}),
    [](const auto& info) { return info.param.name + ("_" + std::to_string(info.index)); });

}  // namespace
}  // namespace tutti_test
