// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Communicators whose ranks are on several hosts, which here are made of one: processes of
// different TUTTI_HOST_ID share no memory and send messages over the loopback interface.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/collectives.hpp"

namespace tutti_test {
namespace {

// Under sanitizers the forms of one host's calls have been seen often enough.
constexpr bool kBriefly = kSanitized;

// One character per rank: the name of its host.
class HostsOfTwo : public testing::Test {
 protected:
  static Ranks ranks_on(const std::string& hosts,
                        const std::vector<std::pair<std::string, std::string>>& settings = {}) {
    Ranks ranks;
    ranks.count = static_cast<int>(hosts.size());
    ranks.before = [hosts, settings](int rank) {
      setenv("TUTTI_HOST_ID", std::string(1, hosts[static_cast<size_t>(rank)]).c_str(), 1);
      for (const auto& [name, value] : settings) setenv(name.c_str(), value.c_str(), 1);
    };
    return ranks;
  }
  static void on_hosts(const std::string& hosts, const std::function<void(Collectives&)>& body,
                       const std::vector<std::pair<std::string, std::string>>& settings = {}) {
    run_ranks(ranks_on(hosts, settings), [&](int rank, tutti_comm_t comm) {
      Collectives collectives(rank, comm);
      body(collectives);
    });
  }
};

class Hosts : public HostsOfTwo, public testing::WithParamInterface<const char*> {};

// Whole chunks of a composition and a bit, but under sanitizers.
constexpr size_t kLargeCount = kSanitized ? 70'001 : 600'001;

void call_all(Collectives& on, tutti_type type, size_t count, const Variant& variant) {
  on.allreduce(type, Op::kSum, count, variant);
  on.reduce_scatter(type, Op::kSum, count, variant);
  on.allgather(type, count, variant);
  on.allgatherv(type, count, variant);
  on.reduce_scatterv(type, Op::kSum, count, variant);
  on.barrier(variant);
  Variant apart = variant;
  apart.in_place = false;
  on.alltoall(type, count, apart);
  on.alltoallv(type, count, apart);
  for (int root = 0; root < on.ranks(); ++root) {
    on.broadcast(type, count, root, variant);
    on.reduce(type, Op::kSum, count, root, variant);
    on.gather(type, count, root, variant);
    on.scatter(type, count, root, variant);
    on.gatherv(type, count, root, variant);
    on.scatterv(type, count, root, variant);
  }
}

TEST_P(Hosts, EveryCollectiveGivesTheReference) {
  on_hosts(GetParam(), [](Collectives& on) {
    for (const tutti_type type : {TUTTI_FLOAT32, TUTTI_BFLOAT16}) {
      for (const size_t count : {size_t{0}, size_t{1}, size_t{13}, size_t{5000}}) {
        call_all(on, type, count, {Form::kBlocking, count == 13, false});
        if (kBriefly) continue;
        call_all(on, type, count, {Form::kNonBlocking, count != 13, true});
      }
    }
    on.allreduce(TUTTI_FLOAT32, Op::kSum, 4 * kLargeCount, {Form::kPersistent, true, false});
    on.broadcast(TUTTI_FLOAT32, kLargeCount, on.ranks() - 1, {});
    on.reduce(TUTTI_FLOAT32, Op::kSum, kLargeCount, 0, {});
    on.allgather(TUTTI_FLOAT32, kLargeCount, {});
    on.reduce_scatter(TUTTI_FLOAT32, Op::kSum, kLargeCount, {});
    on.alltoall(TUTTI_FLOAT32, kLargeCount, {});
  });
}

TEST_F(HostsOfTwo, EveryOperationGivesTheReference) {
  on_hosts("aabb", [](Collectives& on) {
    for (int type = 0; type < kTypes; ++type) {
      for (const Op op : kOps) {
        if (!op_applies(op, static_cast<tutti_type>(type))) continue;
        on.allreduce(static_cast<tutti_type>(type), op, 777, {});
        on.reduce_scatter(static_cast<tutti_type>(type), op, 33, {});
      }
    }
  });
}

TEST_F(HostsOfTwo, EveryAlgorithmGivesTheReference) {
  std::map<std::string, std::vector<std::string>> names;
#define TUTTI_ALGORITHM(collective, name) names["CCL_" #collective].push_back(#name);
#include "algorithms/registry.inc"
#undef TUTTI_ALGORITHM
  // The last of each, the one before the last ...: those that need no shared memory stand last, and
  // what does not apply is replaced.
  for (size_t i = 0; i < 8; ++i) {
    std::vector<std::pair<std::string, std::string>> settings = {{"CCL_LOG_LEVEL", "error"}};
    for (const auto& [name, list] : names) {
      std::string variable = name;
      std::transform(variable.begin(), variable.end(), variable.begin(), ::toupper);
      settings.emplace_back(variable, list[list.size() - 1 - i % list.size()]);
    }
    on_hosts(
        "aabb",
        [](Collectives& on) {
          for (const size_t count : {size_t{3}, size_t{5000}}) {
            call_all(on, TUTTI_FLOAT32, count, {Form::kBlocking, count == 3, false});
          }
        },
        settings);
  }
}

// Where the ranks of a host are neighbours, and where they are dealt out.
TEST_P(Hosts, CompositionsOfBlocksGiveTheReference) {
  on_hosts(GetParam(),
           [](Collectives& on) {
             for (const size_t count : {size_t{0}, size_t{1}, size_t{5000}, size_t{70'001}}) {
               for (const bool in_place : {false, true}) {
                 const Form form = in_place ? Form::kPersistent : Form::kBlocking;
                 on.alltoall(TUTTI_FLOAT32, count, {form, false, false});
                 for (int root = 0; root < on.ranks(); ++root) {
                   on.gather(TUTTI_FLOAT32, count, root, {form, in_place, false});
                   on.scatter(TUTTI_FLOAT32, count, root, {form, in_place, false});
                 }
               }
             }
           },
           {{"CCL_ALLTOALL", "hierarchical"},
            {"CCL_GATHER", "hierarchical"},
            {"CCL_SCATTER", "hierarchical"},
            {"CCL_LOG_LEVEL", "error"}});
}

TEST_P(Hosts, StrictCallsGiveTheBitsOfOneHost) {
  // The reference adds in the order of the ranks.
  on_hosts(GetParam(),
           [](Collectives& on) {
             for (const size_t count : {size_t{5}, size_t{40'000}}) {
               on.allreduce(TUTTI_FLOAT32, Op::kSum, count, {});
             }
           },
           {{"TUTTI_STRICT", "1"}});
}

TEST_P(Hosts, MessagesFindTheirReceivers) {
  on_hosts(GetParam(), [](Collectives& on) {
    for (const size_t count : {size_t{0}, size_t{1}, size_t{1000}, size_t{100'000}}) {
      on.send_recv(TUTTI_INT32, count, {});
    }
  });
}

TEST_P(Hosts, WorkersShareALargeCall) {
  on_hosts(GetParam(), [](Collectives& on) { call_all(on, TUTTI_FLOAT32, kLargeCount, {}); },
           {{"CCL_WORKER_COUNT", "2"}});
}

TEST_P(Hosts, ADeadRankIsNamedToAll) {
  const std::string hosts = GetParam();
  Ranks ranks = ranks_on(hosts);
  const int victim = ranks.count - 1;
  ranks.killed = {victim};
  ranks.breaks = true;
  const Meeting meeting(ranks.count);
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    float value = 1;
    ASSERT_OK(tutti_allreduce(&value, &value, 1, TUTTI_FLOAT32, TUTTI_SUM, comm));
    meeting.wait();
    if (rank == victim) kill_myself();
    tutti_status status = TUTTI_OK;
    while (status == TUTTI_OK) {
      status = tutti_allreduce(&value, &value, 1, TUTTI_FLOAT32, TUTTI_SUM, comm);
    }
    EXPECT_EQ(status, TUTTI_ERR_PEER_FAILED) << tutti_last_error();
    EXPECT_ERROR_SAYS("rank " + std::to_string(victim));
  });
}

TEST_P(Hosts, DifferentCallsAreNamed) {
  Ranks ranks = ranks_on(GetParam());
  ranks.breaks = true;
  const int odd = ranks.count - 1;
  const Meeting meeting(ranks.count);
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    std::vector<float> data(8, 1.0F);
    ASSERT_OK(tutti_barrier(comm));
    meeting.wait();
    const size_t count = rank == odd ? 7 : 8;
    const tutti_status status =
        tutti_allreduce(data.data(), data.data(), count, TUTTI_FLOAT32, TUTTI_SUM, comm);
    // Who had all it needed before the others found out may have succeeded; the next call fails.
    const tutti_status next = status == TUTTI_OK ? tutti_barrier(comm) : status;
    EXPECT_EQ(next, TUTTI_ERR_MISMATCH) << tutti_last_error();
  });
}

// Calls in which no message of either meets one of the other: both wait for what never comes.
TEST_F(HostsOfTwo, DifferentCallsThatExchangeNothingAreNamed) {
  Ranks ranks = ranks_on("ab");
  ranks.breaks = true;
  for (const bool queued : {false, true}) {
    const Meeting meeting(ranks.count);
    run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
      float value = 1;
      ASSERT_OK(tutti_barrier(comm));
      meeting.wait();
      tutti_request_t request = nullptr;
      if (queued) {
        ASSERT_OK(tutti_ibroadcast(&value, 1, TUTTI_FLOAT32, 1 - rank, comm, &request));
        EXPECT_STATUS(TUTTI_ERR_MISMATCH, tutti_request_wait(request));
      } else {
        EXPECT_STATUS(TUTTI_ERR_MISMATCH,
                      tutti_broadcast(&value, 1, TUTTI_FLOAT32, 1 - rank, comm));
      }
      for (const char* root : {"root 0", "root 1"}) EXPECT_ERROR_SAYS(root);
      if (queued) {
        EXPECT_OK(tutti_request_free(request));
      }
    });
  }
}

TEST_F(HostsOfTwo, ARankThatIsLateIsNamedWithItsLastCall) {
  Ranks ranks = ranks_on("ab");
  ranks.breaks = true;
  ranks.config.timeout_ms = 2500;
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    float value = 1;
    ASSERT_OK(tutti_allreduce(&value, &value, 1, TUTTI_FLOAT32, TUTTI_SUM, comm));
    if (rank == 0) {
      EXPECT_STATUS(TUTTI_ERR_TIMEOUT, tutti_broadcast(&value, 1, TUTTI_FLOAT32, 1, comm));
      EXPECT_ERROR_SAYS("rank 1 had not entered the call, its last was allreduce #1");
      return;
    }
    // Until the other has given up.
    while (tutti_comm_state(comm) == TUTTI_OK) usleep(10'000);
  });
}

// All that this rank still waits for is that what it sent is taken.
TEST_F(HostsOfTwo, ARankThatTakesNothingIsNamed) {
  Ranks ranks = ranks_on("ab");
  ranks.breaks = true;
  ranks.config.timeout_ms = 500;
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    std::vector<std::byte> data(4 << 20);
    if (rank == 0) {
      EXPECT_STATUS(TUTTI_ERR_TIMEOUT,
                    tutti_broadcast(data.data(), data.size(), TUTTI_INT8, 0, comm));
      EXPECT_ERROR_SAYS("rank 1 (pid ");
      EXPECT_ERROR_SAYS("has not taken ");
      return;
    }
    while (tutti_comm_state(comm) == TUTTI_OK) usleep(10'000);
  });
}

TEST_P(Hosts, WhoHasDestroyedItsCommunicatorIsNamed) {
  Ranks ranks = ranks_on(GetParam());
  ranks.breaks = true;
  const int leaver = ranks.count - 1;
  using Call = std::function<tutti_status(std::vector<float> & data, tutti_comm_t comm)>;
  const Call calls[] = {
      [](auto& data, auto comm) {
        return tutti_allreduce(data.data(), data.data(), 1, TUTTI_FLOAT32, TUTTI_SUM, comm);
      },
      [](auto& data, auto comm) {
        return tutti_alltoall(data.data(), &data[data.size() / 2], 1, TUTTI_FLOAT32, comm);
      },
      [&](auto& data, auto comm) {
        return tutti_recv(data.data(), 1, TUTTI_FLOAT32, leaver, 1, comm, nullptr);
      },
      [&](auto& /*data*/, auto comm) {  // too long to go without being asked for
        const std::vector<std::byte> longer(1 << 20);
        return tutti_send(longer.data(), longer.size(), TUTTI_INT8, leaver, 1, comm);
      },
  };
  for (const Call& call : calls) {
    run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
      std::vector<float> data(2 * static_cast<size_t>(ranks.count), 1.0F);
      // Others may have found out, and told all, before this rank is through.
      const tutti_status before = tutti_barrier(comm);
      if (rank == leaver) return;
      EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, before == TUTTI_OK ? call(data, comm) : before);
      EXPECT_ERROR_SAYS("rank " + std::to_string(leaver));
      EXPECT_ERROR_SAYS("has destroyed its communicator");
    });
  }
}

TEST_P(Hosts, GroupsOfRanksSplitOff) {
  const std::string hosts = GetParam();
  run_ranks(ranks_on(hosts), [&](int rank, tutti_comm_t comm) {
    tutti_comm_t part = nullptr;
    ASSERT_OK(tutti_comm_split(comm, rank % 2, -rank, nullptr, &part));
    int sum = rank;
    ASSERT_OK(tutti_allreduce(&sum, &sum, 1, TUTTI_INT32, TUTTI_SUM, part));
    int expected = 0;
    for (int r = rank % 2; r < static_cast<int>(hosts.size()); r += 2) expected += r;
    EXPECT_EQ(sum, expected);
    ASSERT_OK(tutti_comm_destroy(part));
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, Hosts, testing::Values("ab", "abab", "aaab"),
                         [](const auto& shape) { return std::string(shape.param); });

}  // namespace
}  // namespace tutti_test
