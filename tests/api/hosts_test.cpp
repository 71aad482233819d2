// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Communicators whose ranks are on several hosts, which here are made of one: processes of
// different TUTTI_HOST_ID share no memory and send messages over the loopback interface.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/hosts.hpp"

namespace tutti_test {
namespace {

// Under sanitizers the forms of one host's calls have been seen often enough.
constexpr bool kBriefly = kSanitized;

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
  on.alltoall(type, count, variant);
  on.alltoallv(type, count, variant);
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
    on.alltoall(TUTTI_FLOAT32, kLargeCount, {Form::kNonBlocking, true, false});
    on.alltoallv(TUTTI_FLOAT32, kLargeCount, {Form::kPersistent, true, false});
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

// What is reduced in one step, as small floats and a user's operation ask for, by each algorithm
// that does so: the reference is exact.
TEST_F(HostsOfTwo, ReductionsInOneStepGiveTheReferenceOfEveryOperation) {
  for (const char* algorithm : {"gathered", "sliced", "exchange", "all_pairs"}) {
    for (const char* hosts : {"aabb", "abab", "aabbcc"}) {
      on_hosts(
          hosts,
          [](Collectives& on) {
            for (int type = 0; type < kTypes; ++type) {
              for (const Op op : kOps) {
                if (!op_applies(op, static_cast<tutti_type>(type))) continue;
                on.allreduce(static_cast<tutti_type>(type), op, 777, {Form::kBlocking, true, true});
                on.allreduce(static_cast<tutti_type>(type), op, 5, {Form::kNonBlocking});
              }
            }
            on.allreduce(TUTTI_BFLOAT16, Op::kSum, 30'001, {Form::kPersistent});
          },
          {{"CCL_ALLREDUCE", algorithm}});
    }
  }
}

// Chunks use the same private memory in turn, and the last one has slices of other sizes.
TEST_F(HostsOfTwo, SlicesOfSeveralChunksGiveTheReference) {
  on_hosts(
      "aabb",
      [](Collectives& on) {
        on.allreduce(TUTTI_BFLOAT16, Op::kSum, 2 * kLargeCount, {Form::kPersistent, true, false});
        on.allreduce(TUTTI_FLOAT32, Op::kUser, kLargeCount, {Form::kNonBlocking});
      },
      {{"CCL_ALLREDUCE", "sliced"}});
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

// Hosts in groups, even and not: columns are composed, too, of what is within a group and what is
// between them.
TEST_F(HostsOfTwo, CompositionsOfCompositionsGiveTheReference) {
  std::vector<std::pair<std::string, std::string>> settings = {{"CCL_LOG_LEVEL", "error"}};
  for (const char* collective :
       {"ALLREDUCE", "REDUCE", "BROADCAST", "ALLGATHER", "ALLGATHERV", "REDUCE_SCATTER",
        "REDUCE_SCATTERV", "ALLTOALL", "GATHER", "SCATTER", "BARRIER"}) {
    settings.emplace_back(std::string("CCL_") + collective, "hierarchical");
  }
  using Shape = std::pair<std::string, std::string>;  // of each rank: its host, the host's group
  for (const auto& [hosts, groups] : {Shape{"aabbccdd", "xxxxyyyy"},
                                      {"abcabc", "xyxxyx"},
                                      {"aabccd", "xxxyyy"},
                                      {"abcd", "xxyy"}}) {
    Ranks ranks = ranks_on(hosts, settings);
    ranks.before = [place = ranks.before, groups = groups](int rank) {
      place(rank);
      setenv("TUTTI_HOST_GROUP", groups.substr(static_cast<size_t>(rank), 1).c_str(), 1);
    };
    run_ranks(ranks, [](int rank, tutti_comm_t comm) {
      Collectives on(rank, comm);
      for (const size_t count : {size_t{0}, size_t{1}, size_t{13}, size_t{5000}}) {
        call_all(on, TUTTI_FLOAT32, count, {Form::kBlocking, count == 13, count == 5000});
      }
      for (const Op op : {Op::kAvg, Op::kUser}) on.allreduce(TUTTI_FLOAT32, op, 70'001, {});
      on.reduce_scatter(TUTTI_FLOAT32, Op::kAvg, 5000, {});
    });
  }
}

// Over so many hosts short blocks are packed, and longer ones are not.
TEST_F(HostsOfTwo, AllgathersOverManyHostsGiveTheReference) {
  const Ranks ranks = ranks_on("aabbccddeeffgg", {{"CCL_ALLGATHER", "hierarchical"}});
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    Collectives on(rank, comm);
    for (const size_t count : {size_t{0}, size_t{1}, size_t{13}, size_t{1024}, size_t{1025}}) {
      on.allgather(TUTTI_FLOAT32, count, {Form::kBlocking, false, false});
      on.allgather(TUTTI_FLOAT32, count, {Form::kNonBlocking, true, true});
    }
  });
}

// A job that encrypts, from the meeting to the last message: short ones, pieces and chunks.
TEST_F(HostsOfTwo, EveryCollectiveGivesTheReferenceEncrypted) {
  on_hosts("aabb",
           [](Collectives& on) {
             for (const size_t count : {size_t{0}, size_t{1}, size_t{777}, size_t{40'000}}) {
               call_all(on, TUTTI_FLOAT32, count, {Form::kBlocking, count == 777, false});
               on.send_recv(TUTTI_FLOAT32, count, {});
             }
             on.allreduce(TUTTI_FLOAT32, Op::kSum, kLargeCount, {});
           },
           {{"TUTTI_NET_ENCRYPT", "1"}});
}

// Where the ranks of a host are neighbours, and where they are dealt out.
TEST_P(Hosts, CompositionsOfBlocksGiveTheReference) {
  on_hosts(GetParam(),
           [](Collectives& on) {
             for (const size_t count : {size_t{0}, size_t{1}, size_t{5000}, size_t{70'001}}) {
               for (const bool in_place : {false, true}) {
                 const Form form = in_place ? Form::kPersistent : Form::kBlocking;
                 on.alltoall(TUTTI_FLOAT32, count, {form, in_place, false});
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
