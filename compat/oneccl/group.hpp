// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the calls of a group leave until it ends. Each thread has its own group.
#pragma once

#include "result.hpp"

namespace tutti_oneccl {

// Where the library says what a receive in a group got; checked when the group ends.
tutti_recv_info* expect_in_group(size_t count);
// oneCCL wants the counts of both sides to be equal.
onecclResult_t check_received(const tutti_recv_info& info, size_t expected);

}  // namespace tutti_oneccl
