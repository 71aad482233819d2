// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Calls within a scope: all ranks of a communicator on several hosts make them as any call, in
// order and with the same arguments, and the ranks of each host, or of each column, run them among
// themselves. `root` is a rank of the communicator; it stands for its host or its place.
#pragma once

#include "algorithms/algorithm.hpp"
#include "exec/call.hpp"

namespace tutti {

// The composition of one phase that such a call is; null: it is a call of all ranks.
const Algorithm* algorithm_of_scope(Purpose purpose);

}  // namespace tutti
