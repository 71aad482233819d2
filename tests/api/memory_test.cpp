// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How much shared memory communicators take: what was promised in docs/memory.md.
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// Of all communicators in which this process takes part: each has one file, which all ranks share.
uint64_t shared_bytes() {
  uint64_t bytes = 0;
  DIR* const files = opendir("/proc/self/fd");
  while (const dirent* file = readdir(files)) {
    const std::string path = std::string("/proc/self/fd/") + file->d_name;
    char target[256] = {};
    if (readlink(path.c_str(), target, sizeof target - 1) <= 0) continue;
    struct stat info {};
    if (std::string(target).find("memfd:tutti") == std::string::npos) continue;
    if (stat(path.c_str(), &info) == 0) bytes += static_cast<uint64_t>(info.st_blocks) * 512;
  }
  closedir(files);
  return bytes;
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
    EXPECT_GT(shared_bytes(), 0u);
    EXPECT_LE(shared_bytes(), kMiB) << "before anything is called";
    for (const size_t bytes : {8u, 1000u, 8000u, 100000u}) call_small(comm, bytes);
    EXPECT_LE(shared_bytes(), 8 * kMiB);
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
    EXPECT_LE(shared_bytes(), 100 * kMiB);
    for (tutti_comm_t made : comms) ASSERT_OK(tutti_comm_destroy(made));
  });
}

}  // namespace
}  // namespace tutti_test
