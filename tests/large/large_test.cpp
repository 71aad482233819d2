// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// More elements than 31 bits can count. Needs 5 GiB of memory.
#include <fstream>
#include <string>

#include "support/collectives.hpp"

namespace tutti_test {
namespace {

constexpr size_t kCount = (size_t{1} << 31) + 5;

// Neither sanitizers nor small machines bear it.
bool too_small() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word && word != "MemAvailable:") continue;
  uint64_t available_kib = 0;
  file >> available_kib;
  return kSanitized || available_kib < (uint64_t{5} << 20);
}

TEST(Large, MoreThan2To31ElementsAreReduced) {
  if (too_small()) GTEST_SKIP() << "needs 5 GiB of free memory and no sanitizer";
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    Collectives(rank, comm).allreduce(TUTTI_INT8, Op::kSum, kCount, {Form::kBlocking, true, false});
  });
}

TEST(Large, MoreThan2To31ElementsAreBroadcast) {
  if (too_small()) GTEST_SKIP() << "needs 5 GiB of free memory and no sanitizer";
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    Collectives(rank, comm).broadcast(TUTTI_UINT8, kCount, 1, {Form::kBlocking, false, false});
  });
}

}  // namespace
}  // namespace tutti_test
