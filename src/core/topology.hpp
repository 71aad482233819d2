// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The machine around this process. A "core" is what the operating system numbers: a hardware
// thread.
//
// Two costs, hence two parts. Every start needs usable cores, quota, caches and binding; they come
// from the kernel directly, in microseconds. Loading hwloc, even without devices and distances,
// takes milliseconds, and more on larger machines. So it happens only where a person looks at the
// result.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/status.hpp"

namespace tutti {

// ---- asked at every start ----------------------------------------------------------------------

// The affinity mask of this process (of its main thread), ascending; never empty.
std::vector<int> usable_cores();
// All cores of the host that are online, ascending; never empty.
std::vector<int> online_cores();

// A limit of processor time in cores (1.5: 150 ms in every 100 ms), which all processes of a
// control group share. The folder of a group tells it from others of the host, in containers too.
struct CpuLimit {
  uint64_t device = 0;  // device and inode of the folder
  uint64_t inode = 0;
  double cores = 0;
  friend bool operator==(const CpuLimit&, const CpuLimit&) = default;
};
// The limits of all control groups that this process is in, as far as it sees them. `root` is put
// before /proc and /sys: for tests.
std::vector<CpuLimit> cpu_limits(const std::string& root = "");
// The smallest of these limits; nullopt if there is none.
std::optional<double> cpu_quota(const std::string& root = "");

// How many threads can make progress at once: the usable cores, or the quota rounded down if that
// is less; at least 1.
int parallel_threads(std::span<const int> usable, std::optional<double> quota);

// Bytes; 0 if unknown.
struct CacheSizes {
  uint64_t second_level = 0;  // bytes per core
  uint64_t last_level = 0;    // bytes that cores share
};
CacheSizes cache_sizes();

Status bind_this_thread(int core);

// ---- asked where there are several network interfaces -------------------------------------------

// The locality of each device to the cores. It is how deep in hwloc's tree the smallest part of the
// machine lies that has both (0: the whole machine). The deeper, the nearer. A device whose place
// hwloc does not know counts as a part of the whole. `names` are the system's: "eth0", "mlx5_0".
// `xml`: another machine than this one, as hwloc describes it; for tests.
Result<std::vector<int>> device_locality(std::span<const std::string> names,
                                         std::span<const int> cores, const std::string& xml = "");

// ---- asked by `tutti info` ---------------------------------------------------------------------

// "480 MiB", "15.6 GiB".
std::string format_size(uint64_t bytes);

struct Topology {
  std::string processor;  // the model's name; empty if unknown
  int packages = 0;
  int numa_nodes = 0;
  int physical_cores = 0;
  int hardware_threads = 0;
  uint64_t memory_bytes = 0;
  std::string drawing;  // several lines
};
// Loads hwloc's view of the machine; threads outside `usable` are in parentheses in the drawing.
Result<Topology> load_topology(std::span<const int> usable);

}  // namespace tutti
