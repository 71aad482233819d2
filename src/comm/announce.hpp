// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the log says of a communicator and of what is chosen for its calls: rank 0, for all.
#pragma once

#include <memory>
#include <string>

#include "comm/connect.hpp"
#include "exec/plan.hpp"
#include "select/selector.hpp"

namespace tutti {

// Version, ranks, hosts and transports, at level info for the first of a process, then at debug.
void announce(const std::string& name, int ranks, const Connection& connection);

// `selector`'s choices; of the communicator's calls, `named` by it, they go to the log: at level
// info the algorithm of each size as it is first used, at debug each choice and its reasons.
Choose choose_aloud(Selector selector, std::string named);

}  // namespace tutti
