// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The facts of the machine that every start needs, as Linux tells them.
#include "core/topology.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <numeric>

#include "core/affinity.hpp"

namespace tutti {
namespace {

constexpr int kMostCores = 1 << 20;

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, FreeCpuSet>;

// The first word of a file; empty if it cannot be read.
std::string read_word(const std::string& path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

// The size of the core-0 cache of `level` from /sys, as hwloc reads it; 0 if it is not there.
uint64_t cache_size_from_sys(int level) {
  for (int index = 0; index < 10; ++index) {
    const std::string cache = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    if (read_word(cache + "level") != fmt::format("{}", level)) continue;
    uint64_t kibibytes = 0;
    std::ifstream(cache + "size") >> kibibytes;  // "2048K"
    return kibibytes << 10;
  }
  return 0;
}

// The C library asks the processor itself, which on a virtual machine may speak of all of the
// host's.
uint64_t cache_size(int level, int sysconf_name) {
  if (const uint64_t bytes = cache_size_from_sys(level); bytes > 0) return bytes;
  return static_cast<uint64_t>(std::max(sysconf(sysconf_name), 0L));
}

}  // namespace

std::vector<int> usable_cores() {
  // The kernel refuses a set smaller than its own with EINVAL.
  for (int cores = 1024; cores <= kMostCores; cores *= 2) {
    const CpuSet set(CPU_ALLOC(cores));
    const size_t bytes = CPU_ALLOC_SIZE(cores);
    if (sched_getaffinity(getpid(), bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    std::vector<int> usable;
    for (int core = 0; core < cores; ++core) {
      if (CPU_ISSET_S(core, bytes, set.get())) usable.push_back(core);
    }
    return usable;
  }
  return online_cores();  // a sandbox that forbids the question
}

std::vector<int> online_cores() {
  const auto list = parse_core_list(read_word("/sys/devices/system/cpu/online"));
  if (list && !list->automatic) return list->cores;
  std::vector<int> cores(static_cast<size_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L)));
  std::iota(cores.begin(), cores.end(), 0);
  return cores;
}

int parallel_threads(std::span<const int> usable, std::optional<double> quota) {
  const int cores = static_cast<int>(usable.size());
  if (!quota || *quota >= cores) return std::max(cores, 1);
  return std::max(static_cast<int>(*quota), 1);
}

CacheSizes cache_sizes() {
  const uint64_t second = cache_size(2, _SC_LEVEL2_CACHE_SIZE);
  const uint64_t third = cache_size(3, _SC_LEVEL3_CACHE_SIZE);
  return {.second_level = second, .last_level = third != 0 ? third : second};
}

Status bind_this_thread(int core) {
  if (core < 0 || core >= kMostCores) {
    return Status::format(Code::kInvalidArgument, "bind a thread to core {}: no such core", core);
  }
  const CpuSet set(CPU_ALLOC(core + 1));
  const size_t bytes = CPU_ALLOC_SIZE(core + 1);
  CPU_ZERO_S(bytes, set.get());
  CPU_SET_S(core, bytes, set.get());
  if (sched_setaffinity(0, bytes, set.get()) == 0) return {};
  return Status::system(errno, fmt::format("bind a thread to core {}", core));
}

}  // namespace tutti
