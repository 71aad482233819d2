// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Cores by number, and which of them the worker threads of a process run on. A "core" here is what
// the operating system numbers: a hardware thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.hpp"

namespace tutti {

// "auto", or a list of cores such as "0,1,4-6", in the order given.
struct CoreList {
  bool automatic = true;
  std::vector<int> cores;
  std::string text;  // the user's text, for errors
};

// nullopt if `text` is neither "auto" nor a list of numbers and ascending ranges.
std::optional<CoreList> parse_core_list(std::string_view text);
// "0-2,5": runs of consecutive numbers become ranges; the order is kept. Empty: "none".
std::string format_cores(std::span<const int> cores);

// The place of this process among those of its host.
struct WorkerPlacement {
  int worker_count = 1;  // workers of each process
  int local_rank = 0;
  int local_ranks = 1;
};

// The core of each worker of this process; empty: the workers are not to be bound. A local rank
// that is not below the number of processes is an error.
//
// A list gives every process of the host its workers' cores, in order of local rank. Its length
// must be local_ranks * worker_count, all its cores must be `online`, and this process's must be
// `usable` (its affinity mask); an error otherwise.
//
// auto takes the last usable cores, and is no error otherwise. The processes are taken to share one
// mask: if each has its own, every choice from it is as good. When all their workers are more than
// the cores, none is bound.
Result<std::vector<int>> assign_worker_cores(const CoreList& list, const WorkerPlacement& placement,
                                             std::span<const int> usable,
                                             std::span<const int> online);

}  // namespace tutti
