// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Groups: what a thread calls between tutti_group_start and tutti_group_end is recorded, and begun
// together at the end. Arguments are checked before a call gets here, so what is recorded is right.
#pragma once

#include "api/guard.hpp"

namespace tutti {

bool group_open_here();
// Whether this thread is inside a group.
inline bool in_group() { return groups_or_views_exist() && group_open_here(); }

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
