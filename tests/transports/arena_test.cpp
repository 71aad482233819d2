// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory that peers read where it lies: where it is found, and in what pages.
#include "transports/shm/arena.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include "core/pages.hpp"

namespace tutti::shm {
namespace {

// How much of the mapping around `memory` this process sees in huge pages.
uint64_t bytes_in_huge_pages(const std::byte* memory) {
  const auto wanted = reinterpret_cast<uint64_t>(memory);
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    unsigned long kilobytes = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      here = wanted >= begin && wanted < end;
    } else if (here && std::sscanf(line.c_str(), "ShmemPmdMapped: %lu kB", &kilobytes) == 1) {
      return kilobytes << 10;
    }
  }
  return 0;
}

// What the system does where it is asked directly: perhaps nothing.
uint64_t huge_bytes_of_a_plain_file() {
  const Fd file(memfd_create("plain", MFD_CLOEXEC));
  std::byte* const memory = map_aligned(kHugePage, PROT_NONE);
  if (ftruncate(file.get(), kHugePage) != 0) return 0;
  mmap(memory, kHugePage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(), 0);
  std::memset(memory, 1, kHugePage);
  madvise(memory, kHugePage, MADV_HUGEPAGE);
  madvise(memory, kHugePage, 25);  // MADV_COLLAPSE
  const uint64_t huge = bytes_in_huge_pages(memory);
  munmap(memory, kHugePage);
  return huge;
}

class ArenasOfTwo : public testing::Test {
 protected:
  void SetUp() override {
    auto region = Region::create(layout_);
    ASSERT_TRUE(region.ok()) << region.status().message();
    region_.emplace(*std::move(region));
    for (int rank : {0, 1}) arenas_[rank].emplace(*region_, layout_, rank);
  }
  // As rank `reader` sees what `owner` took.
  const std::byte* view(int reader, int owner, const void* memory, uint64_t bytes) const {
    return arenas_[reader]->mapped(owner, reinterpret_cast<uint64_t>(memory), bytes);
  }

  const Layout layout_{2, 1, 1, {{.slot_bytes = 32 << 10}, 1 << 20}};
  std::optional<Region> region_;
  std::optional<Arenas> arenas_[2];
};

TEST_F(ArenasOfTwo, PeersReadWhatTheOwnerWrites) {
  auto* const mine = static_cast<char*>(arenas_[0]->take(100000));
  EXPECT_EQ(view(1, 0, mine, 1), nullptr) << "rank 1 has no arena yet";
  ASSERT_NE(arenas_[1]->take(4096), nullptr);
  const std::byte* const seen = view(1, 0, mine + 50, 6);
  ASSERT_NE(seen, nullptr);
  std::memcpy(mine + 50, "tutti", 6);
  EXPECT_EQ(std::memcmp(seen, "tutti", 6), 0);
  EXPECT_EQ(view(1, 0, mine, kArenaBytes + 1), nullptr);
  EXPECT_EQ(view(1, 1, mine, 1), nullptr);
}

TEST_F(ArenasOfTwo, LargeBuffersLieInHugePagesWhereTheSystemCan) {
  constexpr uint64_t kBytes = kHugePage;
  const uint64_t expected = huge_bytes_of_a_plain_file();
  ASSERT_NE(arenas_[1]->take(4096), nullptr);
  auto* const mine = static_cast<std::byte*>(arenas_[0]->take(kBytes));
  ASSERT_NE(mine, nullptr);
  EXPECT_EQ(bytes_in_huge_pages(mine), expected) << "of the owner";

  const std::byte* const seen = view(1, 0, mine, kBytes);
  ASSERT_NE(seen, nullptr);
  std::memset(mine, 7, kBytes);
  for (uint64_t at = 0; at < kBytes; at += 4096) ASSERT_EQ(seen[at], std::byte{7});
  EXPECT_EQ(bytes_in_huge_pages(seen), expected) << "of a reader";
}

}  // namespace
}  // namespace tutti::shm
