// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Peers' buffers that can be read no more, or never could, though the ranks could read one another
// when they met: their owners hand them over, in the middle of the operation.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <ostream>
#include <vector>

#include "support/collectives.hpp"
#include "support/forbidden.hpp"

namespace tutti_test {
namespace {

const std::vector<ForbiddenCall> kReadingProcesses = {{SYS_process_vm_readv, EPERM}};

void choose_pulls(const char* allreduce) {
  setenv("TUTTI_SHM_PULL", "1", 1);  // though the ranks share cores
  setenv("CCL_ALLREDUCE", allreduce, 1);
  for (const char* name :
       {"CCL_BROADCAST", "CCL_REDUCE", "CCL_ALLGATHER", "CCL_REDUCE_SCATTER", "CCL_ALLTOALL",
        "CCL_GATHER", "CCL_SCATTER", "CCL_ALLGATHERV", "CCL_REDUCE_SCATTERV"}) {
    setenv(name, "pull", 1);
  }
  for (const char* name : {"CCL_ALLTOALLV", "CCL_GATHERV", "CCL_SCATTERV"}) {
    setenv(name, "mixed", 1);
  }
}

void run_all(Collectives& on, size_t count, const Variant& variant) {
  const Variant apart{variant.form, false, variant.skewed};
  on.allreduce(TUTTI_FLOAT32, Op::kSum, count, variant);
  on.broadcast(TUTTI_FLOAT32, count, 1, variant);
  on.reduce(TUTTI_FLOAT32, Op::kSum, count, 0, variant);
  on.allgather(TUTTI_FLOAT32, count, variant);
  on.reduce_scatter(TUTTI_FLOAT32, Op::kSum, count, variant);
  on.alltoall(TUTTI_FLOAT32, count, apart);
  on.gather(TUTTI_FLOAT32, count, 0, variant);
  on.scatter(TUTTI_FLOAT32, count, 1, variant);
  on.allgatherv(TUTTI_FLOAT32, count, variant);
  on.reduce_scatterv(TUTTI_FLOAT32, Op::kSum, count, variant);
  on.alltoallv(TUTTI_FLOAT32, count, apart);
  on.gatherv(TUTTI_FLOAT32, count, 1, variant);
  on.scatterv(TUTTI_FLOAT32, count, 0, variant);
}

struct Forbidden {
  int ranks;
  int first;  // these and those after them may not read any more
  const char* allreduce;
};

void PrintTo(const Forbidden& forbidden, std::ostream* out) {
  *out << forbidden.ranks << "_from_" << forbidden.first << '_' << forbidden.allreduce;
}

class FallbackCopy : public testing::TestWithParam<Forbidden> {};

TEST_P(FallbackCopy, GivesTheSameResults) {
  if (!can_forbid()) GTEST_SKIP() << "this system has no filters of system calls";
  Ranks ranks;
  ranks.count = GetParam().ranks;
  ranks.before = [](int) { choose_pulls(GetParam().allreduce); };
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    Collectives on(rank, comm);
    run_all(on, 30000, {});
    if (rank >= GetParam().first) {
      ASSERT_TRUE(forbid(kReadingProcesses));
    }
    int turn = 0;
    for (const size_t count : {size_t{1}, size_t{3000}, size_t{20001}, size_t{300000}}) {
      for (const Form form : kForms) run_all(on, count, {form, ++turn % 2 == 0, turn % 3 == 0});
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, FallbackCopy,
                         testing::Values(Forbidden{2, 0, "pull_all"}, Forbidden{2, 1, "pull"},
                                         Forbidden{3, 1, "pull"}, Forbidden{4, 0, "pull_all"}),
                         testing::PrintToStringParamName());

// Its owner can read and write it, and not even the kernel for another process.
class SecretMemory {
 public:
  explicit SecretMemory(size_t bytes) : bytes_(bytes) {
    const int file = static_cast<int>(syscall(SYS_memfd_secret, 0));
    if (file < 0) return;
    if (ftruncate(file, static_cast<off_t>(bytes)) == 0) {
      void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (memory != MAP_FAILED) memory_ = memory;
    }
    close(file);
  }
  ~SecretMemory() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
  }
  SecretMemory(const SecretMemory&) = delete;
  SecretMemory& operator=(const SecretMemory&) = delete;
  [[nodiscard]] int32_t* get() const { return static_cast<int32_t*>(memory_); }

 private:
  const size_t bytes_;
  void* memory_ = nullptr;
};

TEST(FallbackCopy, OfMemoryThatOnlyItsOwnerReads) {
  constexpr size_t kCount = 100000;
  Ranks ranks;
  ranks.count = 3;
  ranks.before = [](int) { choose_pulls("pull"); };
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    const SecretMemory secret(kCount * sizeof(int32_t));
    if (secret.get() == nullptr) GTEST_SKIP() << "this system has no memfd_secret";
    const auto value = [](int from, size_t i) { return static_cast<int32_t>(i) * 3 + from; };
    for (size_t i = 0; i < kCount; ++i) secret.get()[i] = value(rank, i);
    std::vector<int32_t> all(kCount * 3, -1);
    ASSERT_OK(tutti_allgather(secret.get(), all.data(), kCount, TUTTI_INT32, comm));
    for (size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(all[i], value(static_cast<int>(i / kCount), i % kCount)) << i;
    }
  });
}

// No memory at all, where the owner of the buffer does not touch it itself.
TEST(FallbackCopy, OfABufferThatIsNotThereIsAnErrorThatNamesItsOwner) {
  constexpr size_t kBytes = 1 << 20;
  Ranks ranks;
  ranks.breaks = true;
  ranks.before = [](int) { choose_pulls("pull"); };
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    void* hole = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(hole, MAP_FAILED);
    const std::vector<std::byte> mine(kBytes);
    std::vector<std::byte> all(2 * kBytes);
    EXPECT_STATUS(TUTTI_ERR_SYSTEM, tutti_gather(rank == 1 ? hole : mine.data(), all.data(), kBytes,
                                                 TUTTI_INT8, 0, comm));
    EXPECT_ERROR_SAYS("the buffer of rank 1");
    EXPECT_ERROR_SAYS("Bad address");
    munmap(hole, kBytes);
  });
}

}  // namespace
}  // namespace tutti_test
