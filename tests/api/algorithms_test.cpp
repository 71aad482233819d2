// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Every registered algorithm, chosen by its variable, gives right results over numbers of ranks and
// sizes, those included for which it must hand over to another. A new line in
// algorithms/registry.inc is a new test here.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include "support/collectives.hpp"

namespace tutti_test {
namespace {

struct Choice {
  std::string collective;
  std::string algorithm;
};

void PrintTo(const Choice& choice, std::ostream* out) {
  *out << choice.collective << '_' << choice.algorithm;
}

// Compositions need several hosts: hosts_test.cpp.
std::vector<Choice> choices() {
  std::vector<Choice> all = {
#define TUTTI_ALGORITHM(collective, name) {#collective, #name},
#include "algorithms/registry.inc"
#undef TUTTI_ALGORITHM
  };
  std::erase_if(all, [](const Choice& choice) { return choice.algorithm == "hierarchical"; });
  return all;
}

constexpr size_t kCounts[] = {0, 1, 3, 12, 14, 63, 500, 4099, 16385, 100003};

// Many ranks take half of the types, 5 and 7 those that 8 leaves out.
std::vector<tutti_type> types_of(int ranks) {
  if (ranks <= 4) return {TUTTI_UINT8, TUTTI_INT32, TUTTI_BFLOAT16, TUTTI_FLOAT64};
  if (ranks % 2 == 0) return {TUTTI_UINT8, TUTTI_FLOAT64};
  return {TUTTI_INT32, TUTTI_BFLOAT16};
}

// Sanitizers look at the memory that is touched, which long messages touch alike for all
// operations.
bool left_out(Op op, size_t count) { return kSanitized && count > 20'000 && op != Op::kSum; }

void run_collective(const std::string& name, Collectives& on, tutti_type type, size_t count,
                    const Variant& variant) {
  for (const Op op : {Op::kSum, Op::kMax, Op::kAvg, Op::kUser}) {
    if (left_out(op, count)) continue;
    if (name == "allreduce") on.allreduce(type, op, count, variant);
    if (name == "reduce_scatter") on.reduce_scatter(type, op, count, variant);
  }
  for (const Op op : {Op::kSum, Op::kAvg, Op::kUser}) {
    if (left_out(op, count)) continue;
    if (name == "reduce_scatterv") on.reduce_scatterv(type, op, count, variant);
  }
  if (name == "allgatherv") on.allgatherv(type, count, variant);
  if (name == "alltoallv") on.alltoallv(type, count, variant);
  if (name == "alltoall") on.alltoall(type, count, variant);
  if (name == "allgather") on.allgather(type, count, variant);
  if (name == "broadcast") {
    for (int root = 0; root < on.ranks(); ++root) on.broadcast(type, count, root, variant);
  }
  const int root = static_cast<int>(count + static_cast<size_t>(type)) % on.ranks();
  for (const int r : {root, on.ranks() - 1 - root}) {
    for (const Op op : {Op::kSum, Op::kAvg, Op::kUser}) {
      if (left_out(op, count)) continue;
      if (name == "reduce") on.reduce(type, op, count, r, variant);
    }
    if (name == "gatherv") on.gatherv(type, count, r, variant);
    if (name == "scatterv") on.scatterv(type, count, r, variant);
    if (name == "gather") on.gather(type, count, r, variant);
    if (name == "scatter") on.scatter(type, count, r, variant);
  }
}

// Sanitizers look at the memory that is touched, which more ranks touch in the same ways.
const std::vector<int> kRankCounts =
    kSanitized ? std::vector{3, 4} : std::vector{1, 2, 3, 4, 5, 7, 8};

class Algorithm : public testing::TestWithParam<Choice> {};

TEST_P(Algorithm, GivesTheReference) {
  const Choice& choice = GetParam();
  std::string variable = "CCL_" + choice.collective;
  std::transform(variable.begin(), variable.end(), variable.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const int count : kRankCounts) {
    Ranks ranks;
    ranks.count = count;
    ranks.before = [&](int rank) {
      setenv(variable.c_str(), choice.algorithm.c_str(), 1);
      setenv("TUTTI_SHM_PULL", "1", 1);  // though they share cores
      // Groups of few ranks.
      if (choice.algorithm == "leaders") setenv("TUTTI_DOMAIN", rank % 3 == 1 ? "1" : "0", 1);
    };
    run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
      if (choice.collective == "barrier") {
        for (int i = 0; i < 100; ++i) ASSERT_OK(tutti_barrier(comm));
        return;
      }
      Collectives on(rank, comm);
      int turn = 0;
      for (const tutti_type type : types_of(count)) {
        for (const size_t elements : kCounts) {
          const bool in_place = ++turn % 2 == 0;
          run_collective(choice.collective, on, type, elements, {Form::kBlocking, in_place, false});
          run_collective(choice.collective, on, type, elements,
                         {kForms[turn % 3], !in_place, turn % 5 == 0});
        }
      }
    });
  }
}

// As where the system forbids it.
TEST(WithoutPulls, ResultsAreTheSame) {
  Ranks ranks;
  ranks.count = 3;
  ranks.before = [](int) {
    setenv("TUTTI_SHM_PULL", "0", 1);
    setenv("CCL_ALLREDUCE", "pull", 1);
  };
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    Collectives on(rank, comm);
    for (const size_t elements : kCounts) {
      const Variant variant{Form::kBlocking, false, elements % 2 == 1};
      on.allreduce(TUTTI_FLOAT32, Op::kSum, elements, variant);
      on.alltoallv(TUTTI_FLOAT32, elements, variant);
      on.gatherv(TUTTI_FLOAT32, elements, 1, variant);
      on.scatterv(TUTTI_FLOAT32, elements, 2, variant);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Registry, Algorithm, testing::ValuesIn(choices()),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace tutti_test
