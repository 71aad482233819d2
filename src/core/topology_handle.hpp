// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// hwloc's view of a machine, owned.
#pragma once

#include <hwloc.h>

#include <cerrno>
#include <memory>

#include "core/status.hpp"

namespace tutti {

struct DestroyTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using TopologyHandle = std::unique_ptr<hwloc_topology, DestroyTopology>;

// hwloc's components that ask the drivers of accelerators and displays, in all of its versions.
// "pci" asks libpciaccess, which leaks; without it, hwloc asks the kernel itself.
inline constexpr const char* kUnwantedComponents[] = {"opencl",    "cuda", "nvml", "rsmi",
                                                      "levelzero", "gl",   "pci"};

// A topology to be loaded, which keeps of the machine only its dies and groups where they tell
// something. No driver is started in this process, which may not want to use the device. Starting
// one takes up to seconds, memory on the device, threads and signal handlers.
inline Result<TopologyHandle> begin_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return Status::system(errno, "hwloc_topology_init");
  for (const char* component : kUnwantedComponents) {
    // Fails where this hwloc has no such component.
    hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  }
  hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_DIE, HWLOC_OBJ_GROUP}) {
    hwloc_topology_set_type_filter(raw, type, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
  }
  return TopologyHandle(raw);
}

}  // namespace tutti
