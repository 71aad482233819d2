// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Every collective against the reference of support/elements.hpp: all types, all operations, counts
// around the sizes at which algorithms change, all forms, in place or not, aligned or not.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <vector>

#include "support/collectives.hpp"

namespace tutti_test {
namespace {

constexpr size_t kSmallCounts[] = {0, 1, 2, 3, 7, 13, 14, 15, 64};
constexpr size_t kLargeCounts[] = {1000, 4099, 65536 + 1};
constexpr size_t kLargestCount = 1 << 20;
constexpr tutti_type kFewTypes[] = {TUTTI_INT8, TUTTI_BFLOAT16, TUTTI_FLOAT64};

bool one_of_few(tutti_type type) {
  return std::count(std::begin(kFewTypes), std::end(kFewTypes), type) > 0;
}

// All variants of a small call; of a large one each form once, the rest in turn. Of most types
// sanitizers look at one form of a large call, in turn.
template <typename Body>
void for_variants(tutti_type type, size_t count, int turn, const Body& body) {
  const bool one_form = kSanitized && !one_of_few(type);
  for (const Form form : kForms) {
    if (count > kSmallCounts[std::size(kSmallCounts) - 1]) {
      if (one_form && form != kForms[turn % 3]) continue;
      const int which = one_form ? turn : turn + static_cast<int>(form);
      body(Variant{form, which % 2 == 0, which / 2 % 2 == 0});
      continue;
    }
    for (const bool in_place : {false, true}) {
      for (const bool skewed : {false, true}) body(Variant{form, in_place, skewed});
    }
  }
}

template <typename Body>
void for_counts(tutti_type type, const Body& body) {
  int turn = type;
  const auto all_variants = [&](size_t count) {
    ++turn;
    for_variants(type, count, turn, [&](const Variant& variant) { body(count, variant); });
  };
  for (const size_t count : kSmallCounts) all_variants(count);
  for (const size_t count : kLargeCounts) all_variants(count);
  if (one_of_few(type)) all_variants(kLargestCount);
}

// Of many ranks each number takes a third of the types: 5, 7 and 8 take all together.
template <typename Body>
void for_types(int ranks, const Body& body) {
  for (int type = 0; type < kTypes; ++type) {
    if (ranks <= 4 || type % 3 == ranks / 2 % 3) body(static_cast<tutti_type>(type));
  }
}

// Sanitizers look at the memory that is touched, which more ranks touch in the same ways.
const std::vector<int> kRankCounts =
    kSanitized ? std::vector{1, 2, 3} : std::vector{1, 2, 3, 4, 5, 7, 8};

class Conformance : public testing::TestWithParam<int> {
 protected:
  // Runs body(collectives) on every rank.
  void on_ranks(const std::function<void(Collectives&)>& body) const {
    run_ranks(GetParam(), [&](int rank, tutti_comm_t comm) {
      Collectives collectives(rank, comm);
      body(collectives);
    });
  }
};

TEST_P(Conformance, AllreduceGivesTheReference) {
  on_ranks([](Collectives& on) {
    for_types(on.ranks(), [&](tutti_type type) {
      for (const Op op : kOps) {
        if (!op_applies(op, type)) continue;
        for_counts(type, [&](size_t count, const Variant& variant) {
          on.allreduce(type, op, count, variant);
        });
      }
    });
  });
}

TEST_P(Conformance, ReduceScatterGivesTheReference) {
  on_ranks([](Collectives& on) {
    for_types(on.ranks(), [&](tutti_type type) {
      for (const Op op : kOps) {
        if (!op_applies(op, type)) continue;
        for_counts(type, [&](size_t count, const Variant& variant) {
          // The send buffer has a block per rank: the largest count is for the few.
          if (count == kLargestCount && op != Op::kSum) return;
          on.reduce_scatter(type, op, count, variant);
        });
      }
    });
  });
}

TEST_P(Conformance, BroadcastGivesTheReferenceFromEveryRoot) {
  on_ranks([](Collectives& on) {
    for_types(on.ranks(), [&](tutti_type type) {
      for_counts(type, [&](size_t count, const Variant& variant) {
        if (variant.in_place) return;  // there is but one buffer
        for (int root = 0; root < on.ranks(); ++root) on.broadcast(type, count, root, variant);
      });
    });
  });
}

TEST_P(Conformance, AllgatherGivesTheReference) {
  on_ranks([](Collectives& on) {
    for_types(on.ranks(), [&](tutti_type type) {
      for_counts(type,
                 [&](size_t count, const Variant& variant) { on.allgather(type, count, variant); });
    });
  });
}

TEST_P(Conformance, AlltoallGivesTheReference) {
  on_ranks([](Collectives& on) {
    for_types(on.ranks(), [&](tutti_type type) {
      for_counts(type, [&](size_t count, const Variant& variant) {
        // Both buffers have a block per rank.
        on.alltoall(type, count == kLargestCount ? count / 4 : count, variant);
      });
    });
  });
}

TEST_P(Conformance, ReduceGivesTheReferenceAtEveryRoot) {
  on_ranks([](Collectives& on) {
    int root = 0;
    for_types(on.ranks(), [&](tutti_type type) {
      for (const Op op : kOps) {
        if (!op_applies(op, type)) continue;
        for_counts(type, [&](size_t count, const Variant& variant) {
          if (count == kLargestCount && op != Op::kSum) return;
          root = (root + 1) % on.ranks();
          on.reduce(type, op, count, root, variant);
        });
      }
    });
  });
}

TEST_P(Conformance, GatherAndScatterGiveTheReferenceAtEveryRoot) {
  on_ranks([](Collectives& on) {
    for_types(on.ranks(), [&](tutti_type type) {
      for_counts(type, [&](size_t count, const Variant& variant) {
        const bool large = count > kSmallCounts[std::size(kSmallCounts) - 1];
        const int turn = static_cast<int>(count) + type;
        for (int root = large ? turn % on.ranks() : 0; root < on.ranks();
             root += large ? on.ranks() : 1) {
          on.gather(type, count, root, variant);
          on.scatter(type, count, root, variant);
        }
      });
    });
  });
}

TEST_P(Conformance, UnevenBlocksGiveTheReference) {
  on_ranks([](Collectives& on) {
    int root = 0;
    for_types(on.ranks(), [&](tutti_type type) {
      for_counts(type, [&](size_t count, const Variant& variant) {
        const size_t most = std::min<size_t>(count, kLargestCount / 8);
        root = (root + 1) % on.ranks();
        on.allgatherv(type, most, variant);
        on.gatherv(type, most, root, variant);
        on.scatterv(type, most, root, variant);
        on.alltoallv(type, most, variant);
        for (const Op op : {Op::kSum, Op::kAvg, Op::kPremul, Op::kUser}) {
          if (op_applies(op, type)) on.reduce_scatterv(type, op, most, variant);
        }
      });
    });
  });
}

TEST_P(Conformance, SendAndRecvMoveEveryElement) {
  on_ranks([](Collectives& on) {
    for_types(on.ranks(), [&](tutti_type type) {
      for_counts(type, [&](size_t count, const Variant& variant) {
        if (variant.in_place) return;
        on.send_recv(type, count, variant);
      });
    });
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Conformance, testing::ValuesIn(kRankCounts),
                         [](const auto& info) { return std::to_string(info.param); });

TEST(Barrier, LetsNobodyPassBeforeAllHaveCome) {
  constexpr int kRanks = 4;
  constexpr int kRounds = 300;
  Shared<std::atomic<int>> arrived;
  run_ranks(kRanks, [&](int rank, tutti_comm_t comm) {
    tutti_request_t persistent = nullptr;
    ASSERT_OK(tutti_barrier_init(comm, &persistent));
    for (int round = 1; round <= kRounds; ++round) {
      if ((round + rank) % 50 == 0) usleep(500);
      arrived->fetch_add(1);
      if (round % 3 == 0) {
        ASSERT_OK(tutti_barrier(comm));
      } else if (round % 3 == 1) {
        tutti_request_t request = nullptr;
        ASSERT_OK(tutti_ibarrier(comm, &request));
        ASSERT_OK(tutti_request_wait(request));
        ASSERT_OK(tutti_request_free(request));
      } else {
        ASSERT_OK(tutti_request_start(persistent));
        ASSERT_OK(tutti_request_wait(persistent));
      }
      ASSERT_GE(arrived->load(), round * kRanks);
    }
    EXPECT_OK(tutti_request_free(persistent));
  });
}

}  // namespace
}  // namespace tutti_test
