// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/topology.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

namespace tutti {
namespace {

namespace fs = std::filesystem;

// A directory with files as /proc and /sys have them.
class CpuQuota : public testing::Test {
 protected:
  CpuQuota() {
    std::string name = (fs::temp_directory_path() / "tutti-quota-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~CpuQuota() override { fs::remove_all(root_); }

  void file(const std::string& path, const std::string& text) {
    fs::create_directories((root_ + path).substr(0, (root_ + path).rfind('/')));
    std::ofstream(root_ + path) << text;
  }

  std::string root_;
};

TEST_F(CpuQuota, IsAbsentWithoutFiles) { EXPECT_EQ(cpu_quota(root_), std::nullopt); }

TEST_F(CpuQuota, IsReadFromVersion2) {
  file("/proc/self/cgroup", "0::/\n");
  file("/sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(cpu_quota(root_), 1.5);
  file("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(cpu_quota(root_), std::nullopt);
}

TEST_F(CpuQuota, IsTheSmallestOnTheWayToTheRoot) {
  file("/proc/self/cgroup", "0::/a/b/c\n");
  file("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  file("/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
  file("/sys/fs/cgroup/a/cpu.max", "400000 100000\n");
  EXPECT_EQ(cpu_quota(root_), 0.5);
}

TEST_F(CpuQuota, IsFoundInAContainerThatSeesOnlyItsOwnRoot) {
  file("/proc/self/cgroup", "0::/docker/0123456789\n");
  file("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(cpu_quota(root_), 2.0);
}

TEST_F(CpuQuota, IsReadFromVersion1) {
  file("/proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/job\n1:name=systemd:/\n0::/\n");
  file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "75000\n");
  file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "50000\n");
  file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpu_quota(root_), 1.5);
}

TEST_F(CpuQuota, IsToldOfEachGroupWithWhatTellsItFromOthers) {
  file("/proc/self/cgroup", "0::/a/b\n");
  file("/sys/fs/cgroup/a/b/cpu.max", "100000 100000\n");
  file("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  file("/sys/fs/cgroup/a/c/cpu.max", "100000 100000\n");
  const std::vector<CpuLimit> of_b = cpu_limits(root_);
  file("/proc/self/cgroup", "0::/a/c\n");
  const std::vector<CpuLimit> of_c = cpu_limits(root_);
  ASSERT_EQ(of_b.size(), 2U);
  ASSERT_EQ(of_c.size(), 2U);
  EXPECT_NE(of_b[0], of_c[0]) << "b and c, each with one core";
  EXPECT_EQ(of_b[1], of_c[1]) << "a, with three for both";
  EXPECT_EQ(of_b[1].cores, 3);
}

TEST_F(CpuQuota, IsAbsentWhenFilesMakeNoSense) {
  file("/proc/self/cgroup", "nonsense\n0::\n0::x\n::\n0::/\n");
  file("/sys/fs/cgroup/cpu.max", "many few\n");
  EXPECT_EQ(cpu_quota(root_), std::nullopt);
  file("/sys/fs/cgroup/cpu.max", "100000 0\n");
  EXPECT_EQ(cpu_quota(root_), std::nullopt);
}

TEST(ParallelThreads, AreTheCoresOrTheQuotaRoundedDown) {
  const std::vector<int> four = {0, 1, 2, 3};
  EXPECT_EQ(parallel_threads(four, std::nullopt), 4);
  EXPECT_EQ(parallel_threads(four, 2.9), 2);
  EXPECT_EQ(parallel_threads(four, 16.0), 4);
  EXPECT_EQ(parallel_threads(four, 0.25), 1);
}

TEST(UsableCores, AreThoseOfTheAffinityMaskAndOnline) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(getpid(), sizeof(set), &set), 0);
  const std::vector<int> usable = usable_cores();
  EXPECT_EQ(static_cast<int>(usable.size()), CPU_COUNT(&set));
  const std::vector<int> online = online_cores();
  EXPECT_TRUE(std::ranges::is_sorted(online));
  EXPECT_TRUE(std::ranges::includes(online, usable));
}

// What hwloc draws comes from there, too; the C library's may be another on a virtual machine.
TEST(CacheSize, IsWhatTheSystemSaysOfTheFirstCore) {
  const CacheSizes caches = cache_sizes();
  for (int index = 0; index < 10; ++index) {
    const std::string cache = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    int level = 0;
    uint64_t kibibytes = 0;
    if (!(std::ifstream(cache + "level") >> level)) continue;
    std::ifstream(cache + "size") >> kibibytes;
    if (level == 2) {
      EXPECT_EQ(caches.second_level, kibibytes << 10);
    } else if (level == 3) {
      EXPECT_EQ(caches.last_level, kibibytes << 10);
    }
  }
}

TEST(CacheSize, OfTheLastLevelIsNotBelowTheSecond) {
  const CacheSizes caches = cache_sizes();
  EXPECT_GE(caches.last_level, caches.second_level);
}

TEST(Binding, MovesTheCallingThreadAndNoOther) {
  const std::vector<int> before = usable_cores();
  std::thread([&] {
    const Status status = bind_this_thread(before.back());
    EXPECT_TRUE(status.ok()) << status.message();
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(CPU_ISSET(static_cast<size_t>(before.back()), &set));
  }).join();
  EXPECT_EQ(usable_cores(), before);
}

TEST(Binding, ToACoreThatDoesNotExistNamesIt) {
  const Status status = bind_this_thread(online_cores().back() + 512);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find(fmt::format("core {}", online_cores().back() + 512)),
            std::string_view::npos);
  EXPECT_FALSE(bind_this_thread(-1).ok());
}

TEST(Topology, CountsAndDrawsEveryHardwareThread) {
  const auto topology = load_topology(usable_cores());
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  EXPECT_GE(topology->packages, 1);
  EXPECT_GE(topology->numa_nodes, 1);
  EXPECT_GE(topology->hardware_threads, topology->physical_cores);
  EXPECT_GE(topology->physical_cores, 1);
  EXPECT_EQ(std::ranges::count(topology->drawing, '['), topology->physical_cores);
  EXPECT_GE(topology->hardware_threads, static_cast<int>(usable_cores().size()));
}

TEST(Topology, MarksCoresOutsideTheMask) {
  const auto topology = load_topology({});
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  EXPECT_EQ(std::ranges::count(topology->drawing, '('),
            topology->hardware_threads + topology->numa_nodes + 1);
}

}  // namespace
}  // namespace tutti
