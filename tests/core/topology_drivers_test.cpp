// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Drivers of accelerators, of which hwloc would start whichever it finds.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <set>

#include "core/topology.hpp"
#include "core/topology_handle.hpp"
#include "support/processes.hpp"

namespace tutti {
namespace {

// The files that are mapped into this process.
std::set<std::string> mapped_libraries() {
  std::set<std::string> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t path = line.find('/');
    if (path != std::string::npos && line.find(".so", path) != std::string::npos) {
      files.insert(line.substr(path));
    }
  }
  return files;
}

// What is mapped after devices were looked at by hwloc as it is. hwloc maps its plug-ins and what
// these are linked with, such as the libraries that find drivers, before it is told anything.
[[maybe_unused]] std::set<std::string> mapped_by_hwloc_itself() {
  hwloc_topology_t raw = nullptr;
  EXPECT_EQ(hwloc_topology_init(&raw), 0);
  const TopologyHandle topology(raw);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  EXPECT_EQ(hwloc_topology_load(raw), 0);
  return mapped_libraries();
}

TEST(Topology, OfDevicesStartsNoDriver) {
  tutti_test::run_processes(tutti_test::Processes(), [](int) {
    ASSERT_TRUE(begin_topology().ok());
    const std::set<std::string> before = mapped_libraries();
    ASSERT_TRUE(device_locality(std::array<std::string, 1>{"eth0"}, usable_cores()).ok());
    ASSERT_TRUE(load_topology(usable_cores()).ok());
    EXPECT_EQ(mapped_libraries(), before);
#ifndef TUTTI_SANITIZED  // the drivers leak
    if (mapped_by_hwloc_itself() == before) GTEST_SKIP() << "no driver that hwloc would start";
#endif
  });
}

}  // namespace
}  // namespace tutti
