// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The calls of a group, kept until it ends. Each thread has its own group.
#pragma once

#include "result.hpp"

namespace tutti_oneccl {

// Memory for the outcome of a receive in a group; it is checked when the group ends.
tutti_recv_info* expect_in_group(size_t count);
// oneCCL wants the counts of both sides to be equal.
onecclResult_t check_received(const tutti_recv_info& info, size_t expected);

}  // namespace tutti_oneccl
