// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Groups: what a thread calls between tutti_group_start and tutti_group_end is recorded, and begun
// together at the end. Arguments are checked before a call gets here, so what is recorded is right.
#pragma once

#include <atomic>

#include "api/guard.hpp"

namespace tutti {

namespace group_detail {
// Threads with an open group, and views. A call where there are none pays one load of a line that
// hardly ever changes, and no look at thread-local memory.
inline std::atomic<int> groups_and_views{0};
bool group_open_here();
}  // namespace group_detail

// Whether a call may be one of a group, or of a communicator with views (api/views.hpp).
inline bool groups_or_views_exist() {
  return group_detail::groups_and_views.load(std::memory_order_relaxed) != 0;
}
// Whether this thread is inside a group.
inline bool in_group() { return groups_or_views_exist() && group_detail::group_open_here(); }

// Record a blocking call; its buffers, and `info` (may be null), must stay until the group's end.
Status record(tutti_comm_t comm, const Call& call);
Status record(tutti_comm_t comm, const MessageArguments& arguments, tutti_recv_info* info);
// Records a call on a view, which is made already.
Status record(tutti_comm_t comm, std::unique_ptr<DeviceOperation> operation, tutti_recv_info* info);
// Records what `request`, which is not yet started, stands for.
Status record(tutti_request& request);

// For functions that would block, or take away what the group needs.
Status expect_no_group(std::string_view function);

}  // namespace tutti
