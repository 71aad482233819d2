// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Many communicators, at once or one after the other: what each of them takes of what a process may
// have.
#include <dirent.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

int entries_of(const char* path) {
  int entries = -2;  // "." and ".."
  DIR* folder = opendir(path);
  while (folder != nullptr && readdir(folder) != nullptr) ++entries;
  if (folder != nullptr) closedir(folder);
  return entries;
}

int descriptors() { return entries_of("/proc/self/fd"); }

int threads() { return entries_of("/proc/self/task"); }

int mappings() {
  std::ifstream maps("/proc/self/maps");
  int lines = 0;
  for (std::string line; std::getline(maps, line);) ++lines;
  return lines;
}

int64_t address_space_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmSize:")) return std::stoll(line.substr(7));
  }
  return 0;
}

// What ranks met over ends by itself, soon after: waits until `now` says at most `expected`.
template <class Count>
void wait_for_at_most(int expected, Count now) {
  for (int i = 0; i < 2000 && now() > expected; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void sum_ones(tutti_comm_t comm, int ranks) {
  float one = 1;
  float sum = 0;
  ASSERT_OK(tutti_allreduce(&one, &sum, 1, TUTTI_FLOAT32, TUTTI_SUM, comm));
  EXPECT_EQ(sum, static_cast<float>(ranks));
}

tutti_comm_t copy_of(tutti_comm_t comm) {
  tutti_comm_t copy = nullptr;
  EXPECT_OK(tutti_comm_split(comm, 0, 0, nullptr, &copy));
  return copy;
}

void limit(int resource, rlim_t value) {
  const rlimit limit{value, value};
  ASSERT_EQ(setrlimit(static_cast<__rlimit_resource>(resource), &limit), 0);
}

TEST(ManyCommunicators, ThatStayTakeNoDescriptorEach) {
  run_ranks(3, [](int, tutti_comm_t comm) {
    std::vector<tutti_comm_t> kept = {copy_of(comm)};
    sum_ones(kept[0], 3);
    const int before = descriptors();
    for (int i = 0; i < 20; ++i) {
      kept.push_back(copy_of(comm));
      sum_ones(kept.back(), 3);
    }
    const int most = before + 3;  // several share what holds their memory
    wait_for_at_most(most, descriptors);
    EXPECT_LE(descriptors(), most);
    for (tutti_comm_t each : kept) EXPECT_OK(tutti_comm_destroy(each));
  });
}

// As many as people make groups of, within limits that are usual on clusters.
TEST(ManyCommunicators, FitIntoTheUsualLimits) {
  constexpr int kCount = kSanitized ? 150 : 700;
  run_ranks(2, [](int, tutti_comm_t comm) {
    limit(RLIMIT_NOFILE, 256);
    if (!kSanitized) limit(RLIMIT_AS, rlim_t{8000000} << 10);
    std::vector<tutti_comm_t> kept;
    for (int i = 0; i < kCount && !testing::Test::HasFailure(); ++i) {
      kept.push_back(copy_of(comm));
      if (kept.back() != nullptr) sum_ones(kept.back(), 2);
    }
    for (tutti_comm_t each : kept) {
      if (each != nullptr) sum_ones(each, 2);
    }
    for (tutti_comm_t each : kept) EXPECT_OK(tutti_comm_destroy(each));
  });
}

TEST(ManyCommunicators, ByIdsOfTheirOwnFitToo) {
  constexpr int kCount = 100;
  IdPipe ids;
  Processes processes;
  processes.count = 2;
  run_processes(processes, [&ids](int rank) {
    limit(RLIMIT_NOFILE, 64);
    std::vector<tutti_comm_t> kept;
    for (int i = 0; i < kCount; ++i) {
      const tutti_unique_id id = rank == 0 ? ids.make(1) : ids.receive();
      tutti_comm_t comm = nullptr;
      ASSERT_OK(tutti_comm_create(&id, rank, 2, nullptr, &comm));
      kept.push_back(comm);
      sum_ones(comm, 2);
    }
    for (tutti_comm_t each : kept) EXPECT_OK(tutti_comm_destroy(each));
  });
}

TEST(ManyCommunicators, MadeAndDestroyedInARowLeaveNothing) {
  constexpr int kFirst = 20;
  constexpr int kMore = 300;
  constexpr int64_t kMostKib = 256 << 10;  // the C library reserves much for each heap of a thread
  run_ranks(2, [](int, tutti_comm_t comm) {
    const auto make_and_destroy = [comm](int times) {
      for (int i = 0; i < times; ++i) {
        tutti_comm_t copy = copy_of(comm);
        sum_ones(copy, 2);
        ASSERT_OK(tutti_comm_destroy(copy));
      }
      ASSERT_OK(tutti_barrier(comm));
    };
    make_and_destroy(kFirst);
    wait_for_at_most(2, threads);  // this one and the monitor
    const int threads_before = threads();
    const int descriptors_before = descriptors();
    const int mappings_before = mappings();
    const int64_t kib_before = address_space_kib();
    make_and_destroy(kMore);
    wait_for_at_most(threads_before, threads);
    wait_for_at_most(descriptors_before, descriptors);
    EXPECT_LE(threads(), threads_before);
    EXPECT_LE(descriptors(), descriptors_before);
    EXPECT_LE(mappings(), mappings_before + 20);
    if (!kSanitized) {
      EXPECT_LE(address_space_kib(), kib_before + kMostKib);
    }
  });
}

}  // namespace
}  // namespace tutti_test
