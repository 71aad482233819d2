// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/affinity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace tutti {
namespace {

// No machine has more; a larger number is a slip of the pen, and must not be expanded.
constexpr int kHighestCore = 65535;
constexpr size_t kLongestList = 65536;

std::optional<int> parse_core(std::string_view text) {
  int core = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), core);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (core < 0 || core > kHighestCore) return std::nullopt;
  return core;
}

// Appends the cores of "7" or "4-6"; false if it is neither.
bool append_range(std::string_view text, std::vector<int>& cores) {
  const size_t dash = text.find('-');
  const auto first = parse_core(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_core(text.substr(dash + 1));
  if (!first || !last || *last < *first) return false;
  for (int core = *first; core <= *last; ++core) cores.push_back(core);
  return cores.size() <= kLongestList;
}

std::vector<int> last_usable(const WorkerPlacement& placement, std::span<const int> usable) {
  const auto workers = static_cast<size_t>(placement.worker_count);
  const size_t all = workers * static_cast<size_t>(placement.local_ranks);
  if (all > usable.size()) return {};
  const auto mine = usable.last(all).subspan(workers * static_cast<size_t>(placement.local_rank));
  return {mine.begin(), mine.begin() + placement.worker_count};
}

bool contains(std::span<const int> cores, int core) {
  return std::ranges::find(cores, core) != cores.end();
}

}  // namespace

std::optional<CoreList> parse_core_list(std::string_view text) {
  if (text == "auto") return CoreList{};
  CoreList list{.automatic = false, .cores = {}, .text = std::string(text)};
  for (;;) {
    const size_t comma = text.find(',');
    if (!append_range(text.substr(0, comma), list.cores)) return std::nullopt;
    if (comma == std::string_view::npos) return list;
    text.remove_prefix(comma + 1);
  }
}

std::string format_cores(std::span<const int> cores) {
  std::string text;
  for (size_t i = 0; i < cores.size();) {
    size_t end = i + 1;
    while (end < cores.size() && cores[end] == cores[end - 1] + 1) ++end;
    if (!text.empty()) text.push_back(',');
    if (end - i < 2) {
      text += fmt::format("{}", cores[i]);
    } else {
      text += fmt::format("{}-{}", cores[i], cores[end - 1]);
    }
    i = end;
  }
  return text.empty() ? "none" : text;
}

Result<std::vector<int>> assign_worker_cores(const CoreList& list, const WorkerPlacement& placement,
                                             std::span<const int> usable,
                                             std::span<const int> online) {
  if (placement.local_rank < 0 || placement.local_rank >= placement.local_ranks) {
    return Status::format(Code::kInvalidArgument,
                          "local rank {} of {} on this host (CCL_LOCAL_RANK, CCL_LOCAL_SIZE): "
                          "expected one from 0 to {}",
                          placement.local_rank, placement.local_ranks, placement.local_ranks - 1);
  }
  if (list.automatic) return last_usable(placement, usable);
  const auto workers = static_cast<size_t>(placement.worker_count);
  const size_t all = workers * static_cast<size_t>(placement.local_ranks);
  if (list.cores.size() != all) {
    return Status::format(Code::kInvalidArgument,
                          "CCL_WORKER_AFFINITY={}: {} core{} given, expected {}: {} process{} on "
                          "this host x CCL_WORKER_COUNT={}",
                          list.text, list.cores.size(), list.cores.size() == 1 ? "" : "s", all,
                          placement.local_ranks, placement.local_ranks == 1 ? "" : "es", workers);
  }
  for (const int core : list.cores) {
    if (contains(online, core)) continue;
    return Status::format(Code::kInvalidArgument,
                          "CCL_WORKER_AFFINITY={}: core {} does not exist, expected cores of this "
                          "host: {}",
                          list.text, core, format_cores(online));
  }
  const auto first =
      list.cores.begin() + std::ptrdiff_t{placement.local_rank} * placement.worker_count;
  const std::vector<int> mine(first, first + placement.worker_count);
  for (const int core : mine) {
    if (contains(usable, core)) continue;
    return Status::format(Code::kInvalidArgument,
                          "CCL_WORKER_AFFINITY={}: core {}, for local rank {}, is outside the "
                          "affinity mask of that process, expected one of {}",
                          list.text, core, placement.local_rank, format_cores(usable));
  }
  return mine;
}

}  // namespace tutti
