// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/cache_domain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <vector>

#include "core/affinity.hpp"
#include "core/folder.hpp"

namespace tutti {
namespace {

using Cores = std::vector<int>;  // ascending

// A list such as "0-7,64-71"; empty if the file is not there or says something else.
Cores read_cores(const std::string& path) {
  std::string word;
  std::ifstream(path) >> word;
  auto list = parse_core_list(word);
  if (!list || list->automatic) return {};
  std::ranges::sort(list->cores);
  return std::move(list->cores);
}

// The cores that share the third-level cache of the one with this folder.
Cores cache_of(const std::string& cpu) { return read_cores(cpu + "/cache/index3/shared_cpu_list"); }

// The cores of its NUMA node, to which its folder has a link.
Cores node_of(const std::string& cpu) {
  for (const std::string& name : entries_of(cpu)) {
    if (!name.starts_with("node")) continue;
    Cores cores = read_cores(fmt::format("{}/{}/cpulist", cpu, name));
    if (!cores.empty()) return cores;
  }
  return {};
}

}  // namespace

int cache_domain_of(std::span<const int> cores, const std::string& root) {
  if (cores.empty()) return kNoCacheDomain;
  const std::string cpu = fmt::format("{}/sys/devices/system/cpu/cpu{}", root, cores.front());
  Cores domain = cache_of(cpu);
  const Cores node = node_of(cpu);
  if (domain.empty()) domain = node;
  // A cache can serve several nodes (sub-NUMA clusters), and a node have several caches.
  if (!node.empty()) {
    std::erase_if(domain, [&](int core) { return !std::ranges::binary_search(node, core); });
  }
  const bool inside = !domain.empty() && std::ranges::all_of(cores, [&](int core) {
    return std::ranges::binary_search(domain, core);
  });
  return inside ? domain.front() : kNoCacheDomain;
}

std::optional<CacheDomainChoice> parse_cache_domain(std::string_view text) {
  if (text == "auto") return CacheDomainChoice{};
  if (text == "none") return CacheDomainChoice{.automatic = false, .number = kNoCacheDomain};
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return CacheDomainChoice{.automatic = false, .number = number};
}

}  // namespace tutti
