// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The machine as hwloc sees it, drawn as a tree of packages, dies and last-level caches. The cores
// of each are in [ ] with the numbers of their hardware threads.
#include <hwloc.h>

#include <algorithm>

#include "core/topology.hpp"
#include "core/topology_handle.hpp"

namespace tutti {
namespace {

constexpr size_t kLineWidth = 90;

Result<TopologyHandle> load_hwloc() {
  Result<TopologyHandle> topology = begin_topology();
  if (!topology.ok()) return topology;
  hwloc_topology_t raw = topology->get();
  for (const hwloc_obj_type_t type :
       {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_CORE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE}) {
    hwloc_topology_set_type_filter(raw, type, HWLOC_TYPE_FILTER_KEEP_ALL);
  }
  if (hwloc_topology_load(raw) != 0) return Status::system(errno, "hwloc_topology_load");
  return topology;
}

class Drawing {
 public:
  Drawing(hwloc_topology_t topology, std::span<const int> usable)
      : topology_(topology), usable_(usable) {}

  std::string draw() {
    hwloc_obj_t root = hwloc_get_root_obj(topology_);
    add_line("", "", label(root));
    draw_children(root, "");
    if (restricted_) text_ += "(n): outside this process's affinity mask\n";
    return std::move(text_);
  }

 private:
  static bool is_container(hwloc_obj_t object) {
    return object->type == HWLOC_OBJ_PACKAGE || object->type == HWLOC_OBJ_DIE ||
           object->type == HWLOC_OBJ_GROUP || object->type == HWLOC_OBJ_L3CACHE;
  }

  static std::string label(hwloc_obj_t object) {
    std::string text;
    switch (object->type) {
      case HWLOC_OBJ_MACHINE: text = "machine, " + format_size(object->total_memory); break;
      case HWLOC_OBJ_PACKAGE: text = fmt::format("package {}", object->logical_index); break;
      case HWLOC_OBJ_DIE: text = fmt::format("die {}", object->logical_index); break;
      case HWLOC_OBJ_L3CACHE: text = "L3 " + format_size(object->attr->cache.size); break;
      default: text = fmt::format("group {}", object->logical_index); break;
    }
    for (hwloc_obj_t memory = object->memory_first_child; memory != nullptr;
         memory = memory->next_sibling) {
      if (memory->type != HWLOC_OBJ_NUMANODE) continue;
      text += fmt::format(", NUMA node {} ({})", memory->os_index,
                          format_size(memory->attr->numanode.local_memory));
    }
    return text;
  }

  // "[0 56]": a core with its hardware threads.
  std::string core_cell(hwloc_obj_t core) {
    std::string cell;
    for (unsigned i = 0;; ++i) {
      hwloc_obj_t thread =
          hwloc_get_obj_inside_cpuset_by_type(topology_, core->cpuset, HWLOC_OBJ_PU, i);
      if (thread == nullptr) break;
      const int number = static_cast<int>(thread->os_index);
      const bool usable = std::ranges::find(usable_, number) != usable_.end();
      restricted_ = restricted_ || !usable;
      cell +=
          fmt::format(fmt::runtime(usable ? "{}{}" : "{}({})"), cell.empty() ? "" : " ", number);
    }
    return "[" + cell + "]";
  }

  void add_line(std::string_view indent, std::string_view branch, std::string_view text) {
    text_.append(indent).append(branch).append(text).push_back('\n');
  }

  // The cores of `object` that lie in none of its containers, in rows.
  void draw_cores(hwloc_obj_t object, const std::string& indent) {
    std::string row;
    const unsigned count = static_cast<unsigned>(std::max(
        hwloc_get_nbobjs_inside_cpuset_by_type(topology_, object->cpuset, HWLOC_OBJ_CORE), 0));
    for (unsigned i = 0; i < count; ++i) {
      hwloc_obj_t core =
          hwloc_get_obj_inside_cpuset_by_type(topology_, object->cpuset, HWLOC_OBJ_CORE, i);
      hwloc_obj_t above = core->parent;
      while (above != object && !is_container(above)) above = above->parent;
      if (above != object) continue;
      const std::string cell = core_cell(core);
      if (!row.empty() && indent.size() + row.size() + cell.size() >= kLineWidth) {
        add_line(indent, "   ", row);
        row.clear();
      }
      row.append(row.empty() ? "" : " ").append(cell);
    }
    if (!row.empty()) add_line(indent, "   ", row);
  }

  void draw_children(hwloc_obj_t object, const std::string& indent) {
    std::vector<hwloc_obj_t> containers;
    for (hwloc_obj_t child = object->first_child; child != nullptr; child = child->next_sibling) {
      if (is_container(child)) containers.push_back(child);
    }
    draw_cores(object, indent);
    for (hwloc_obj_t child : containers) {
      const bool last = child == containers.back();
      add_line(indent, last ? "└─ " : "├─ ", label(child));
      draw_children(child, indent + (last ? "   " : "│  "));
    }
  }

  hwloc_topology_t topology_;
  std::span<const int> usable_;
  bool restricted_ = false;
  std::string text_;
};

}  // namespace

std::string format_size(uint64_t bytes) {
  if (bytes >= 1ULL << 30) return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
  if (bytes >= 1ULL << 20) return fmt::format("{} MiB", bytes >> 20);
  return fmt::format("{} KiB", bytes >> 10);
}

Result<Topology> load_topology(std::span<const int> usable) {
  TUTTI_ASSIGN_OR_RETURN(TopologyHandle handle, load_hwloc());
  hwloc_topology_t topology = handle.get();
  const auto count = [&](hwloc_obj_type_t type) {
    return std::max(hwloc_get_nbobjs_by_type(topology, type), 0);
  };
  Topology result;
  result.packages = count(HWLOC_OBJ_PACKAGE);
  result.numa_nodes = count(HWLOC_OBJ_NUMANODE);
  result.physical_cores = count(HWLOC_OBJ_CORE);
  result.hardware_threads = count(HWLOC_OBJ_PU);
  result.memory_bytes = hwloc_get_root_obj(topology)->total_memory;
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_MACHINE}) {
    hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, 0);
    const char* model = object ? hwloc_obj_get_info_by_name(object, "CPUModel") : nullptr;
    if (model == nullptr) continue;
    result.processor = model;
    break;
  }
  result.drawing = Drawing(topology, usable).draw();
  return result;
}

}  // namespace tutti
