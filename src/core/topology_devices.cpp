// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The distance between cores and devices, by hwloc.
#include <hwloc.h>

#include <map>
#include <memory>

#include "core/topology.hpp"
#include "core/topology_handle.hpp"

namespace tutti {
namespace {

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

// Packages, what lies between them and the cores, and devices; no caches, which have none.
Result<TopologyHandle> load_devices(const std::string& xml) {
  Result<TopologyHandle> topology = begin_topology();
  if (!topology.ok()) return topology;
  hwloc_topology_t raw = topology->get();
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  // A device may be at a package none of whose cores this process may use.
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (!xml.empty() &&
      hwloc_topology_set_xmlbuffer(raw, xml.c_str(), static_cast<int>(xml.size() + 1)) != 0) {
    return Status::system(errno, "hwloc_topology_set_xmlbuffer");
  }
  if (hwloc_topology_load(raw) != 0) return Status::system(errno, "hwloc_topology_load");
  return topology;
}

// The smallest part of the machine that has the cores and the place.
int depth_of_both(hwloc_topology_t topology, hwloc_const_cpuset_t cores,
                  hwloc_const_cpuset_t place) {
  const Bitmap both(hwloc_bitmap_dup(cores));
  if (both == nullptr) return 0;
  hwloc_bitmap_or(both.get(), both.get(), place);
  hwloc_obj_t part = hwloc_get_obj_covering_cpuset(topology, both.get());
  return part != nullptr ? part->depth : 0;
}

}  // namespace

Result<std::vector<int>> device_locality(std::span<const std::string> names,
                                         std::span<const int> cores, const std::string& xml) {
  TUTTI_ASSIGN_OR_RETURN(TopologyHandle handle, load_devices(xml));
  hwloc_topology_t topology = handle.get();
  const Bitmap mine(hwloc_bitmap_alloc());
  if (mine == nullptr) return Status(Code::kOutOfMemory, "no memory for a set of cores");
  for (const int core : cores) hwloc_bitmap_set(mine.get(), static_cast<unsigned>(core));

  hwloc_const_cpuset_t whole = hwloc_get_root_obj(topology)->cpuset;
  std::map<std::string, hwloc_const_cpuset_t> places;
  for (hwloc_obj_t device = hwloc_get_next_osdev(topology, nullptr); device != nullptr;
       device = hwloc_get_next_osdev(topology, device)) {
    hwloc_obj_t part = hwloc_get_non_io_ancestor_obj(topology, device);
    if (device->name == nullptr || part == nullptr || hwloc_bitmap_iszero(part->cpuset)) continue;
    places[device->name] = part->cpuset;
  }
  std::vector<int> near;
  for (const std::string& name : names) {
    const auto place = places.find(name);
    near.push_back(
        depth_of_both(topology, mine.get(), place != places.end() ? place->second : whole));
  }
  return near;
}

}  // namespace tutti
