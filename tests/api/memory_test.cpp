// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How much shared memory communicators take: what was promised in docs/memory.md.
#include <fstream>
#include <string>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// This rank's share of the shared memory of all its communicators, by the ranks that use each page.
double share_of_bytes() {
  double bytes = 0;
  bool ours = false;
  std::ifstream smaps("/proc/self/smaps");
  for (std::string line; std::getline(smaps, line);) {
    if (line.find('-') < line.find(' ')) ours = line.find("memfd:tutti") != std::string::npos;
    if (ours && line.starts_with("Pss:")) bytes += std::stod(line.substr(4)) * 1024;
  }
  return bytes;
}

// Of all ranks, which are the same in all communicators.
uint64_t shared_bytes(tutti_comm_t comm) {
  EXPECT_OK(tutti_barrier(comm));
  const double mine = share_of_bytes();
  double all = 0;
  EXPECT_OK(tutti_allreduce(&mine, &all, 1, TUTTI_FLOAT64, TUTTI_SUM, comm));
  return static_cast<uint64_t>(all);
}

void call_small(tutti_comm_t comm, size_t bytes) {
  std::vector<unsigned char> send(bytes, 1), recv(bytes);
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(tutti_barrier(comm));
    ASSERT_OK(tutti_allreduce(send.data(), recv.data(), bytes, TUTTI_UINT8, TUTTI_SUM, comm));
    ASSERT_OK(tutti_broadcast(recv.data(), bytes, TUTTI_UINT8, 0, comm));
  }
}

TEST(SharedMemory, OfACommunicatorOfEightRanksIsAtMostEightMiB) {
  Ranks ranks;
  ranks.count = 8;
  run_ranks(ranks, [](int, tutti_comm_t comm) {
    const uint64_t at_first = shared_bytes(comm);
    EXPECT_GT(at_first, 0u);
    EXPECT_LE(at_first, kMiB) << "before anything is called";
    for (const size_t bytes : {8u, 1000u, 8000u, 100000u}) call_small(comm, bytes);
    EXPECT_LE(shared_bytes(comm), 8 * kMiB);
    ASSERT_OK(tutti_barrier(comm));
  });
}

TEST(SharedMemory, OfAHundredCommunicatorsOfEightRanksIsAtMostAHundredMiB) {
  Ranks ranks;
  ranks.count = 8;
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    std::vector<tutti_comm_t> comms(100);
    for (tutti_comm_t& made : comms) {
      ASSERT_OK(tutti_comm_split(comm, 0, rank, nullptr, &made));
      call_small(made, 4096);
    }
    EXPECT_LE(shared_bytes(comm), 100 * kMiB);
    for (tutti_comm_t made : comms) ASSERT_OK(tutti_comm_destroy(made));
  });
}

uint64_t private_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::stoull(line.substr(8)) * 1024;
  }
  return 0;
}

TEST(PrivateMemory, OfALongAlltoallInPlaceIsGivenBack) {
  if (kSanitized) GTEST_SKIP() << "freed memory is kept to find its use";
  run_ranks(2, [](int, tutti_comm_t comm) {
    constexpr size_t kBlock = 48 * kMiB;
    std::vector<unsigned char> x(2 * kBlock, 1);
    ASSERT_OK(tutti_barrier(comm));
    const uint64_t before = private_bytes();
    ASSERT_GT(before, 2 * kBlock);
    for (int turn = 0; turn < 2; ++turn) {
      ASSERT_OK(tutti_alltoall(x.data(), x.data(), kBlock, TUTTI_UINT8, comm));
    }
    EXPECT_LT(private_bytes(), before + kBlock / 2);
  });
}

}  // namespace
}  // namespace tutti_test
