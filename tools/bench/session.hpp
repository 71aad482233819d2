// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How a benchmark comes to its ranks: from a launcher, or started by itself.
#pragma once

#include <tutti/tutti.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/status.hpp"
#include "core/types.hpp"

namespace tutti::bench {

// The communicator of the job.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { tutti_comm_destroy(comm); }

  Status open();

  tutti_comm_t comm = nullptr;
  int rank = 0;
  int ranks = 0;
};

// The load of a machine that does nothing else; ./dev versus warns from there on, too.
inline constexpr double kMostQuietLoad = 0.5;
// A line where `load` says that others use the machine; else empty. Rank 0 says it on stderr.
std::string note_on_load(double load);

Result<bool> has_launcher();
// Becomes `tutti run -n RANKS tutti ...` with the arguments of this process; returns only if it
// cannot.
Status start_ranks(int ranks);

// The numbers below `count` whose names are in `wanted`, or all of them for "all".
Result<std::vector<int>> numbers_of(const std::vector<std::string>& wanted, int count,
                                    const std::function<std::string_view(int)>& name_of,
                                    std::string_view option);
inline std::string_view name_of_type(int i) { return tutti_type_name(static_cast<tutti_type>(i)); }
inline std::string_view name_of_op(int i) { return op_name(static_cast<ReduceOp>(i)); }
// Each type with the operations that it supports; of what does not reduce, with one that counts for
// nothing.
std::vector<std::pair<tutti_type, ReduceOp>> pairs_of(const std::vector<int>& types,
                                                      const std::vector<int>& ops, bool reduces);

}  // namespace tutti::bench
