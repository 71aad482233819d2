// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Groups: what a thread calls between tutti_group_start and tutti_group_end is recorded, and begun
// together at the end. Arguments are checked before a call gets here, so what is recorded is right.
#pragma once

#include <atomic>

#include "api/guard.hpp"

namespace tutti {

namespace group_detail {
// Threads with an open group. A call that is in none pays one load of a line that hardly ever
// changes, and no look at thread-local memory.
inline std::atomic<int> open_groups{0};
bool open_here();
}  // namespace group_detail

// Whether this thread is inside a group.
inline bool in_group() {
  return group_detail::open_groups.load(std::memory_order_relaxed) != 0 &&
         group_detail::open_here();
}

// Record a blocking call; its buffers, and `info` (may be null), must stay until the group's end.
Status record(tutti_comm_t comm, const Call& call);
Status record(tutti_comm_t comm, const MessageArguments& arguments, tutti_recv_info* info);
// Records what `request`, which is not yet started, stands for.
Status record(tutti_request& request);

// For functions that would block, or take away what the group needs.
Status expect_no_group(std::string_view function);

}  // namespace tutti
