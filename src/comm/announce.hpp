// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The log's account of a communicator and of the choices for its calls: rank 0 writes it for all.
// Those who look from outside find a note of what a variable demands that costs time.
#pragma once

#include <memory>
#include <string>

#include "comm/connect.hpp"
#include "exec/plan.hpp"
#include "select/selector.hpp"

namespace tutti {

// Version, ranks, hosts and transports, at level info for the first of a process, then at debug.
void announce(const std::string& name, int ranks, const Connection& connection);

// `selector`'s choices, which go to the log if they are for calls of the communicator `named`.
// Level info has the algorithm of each size as it is first used, level debug each choice and its
// reasons. `note`, which may be null and outlives the choices, gets the costliest demand.
Choose choose_aloud(Selector selector, std::string named, DemandNote* note);

}  // namespace tutti
