// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Plans of the phases of a composition, and of calls within a scope. All ranks of a communicator on
// several hosts make such a call as any, in order and with the same arguments. The ranks of each
// host, or of each column, then run it among themselves. `root` is a rank of the communicator; it
// stands for its host or its place.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/algorithm.hpp"
#include "algorithms/composition.hpp"
#include "exec/plan.hpp"

namespace tutti {

// The call that a phase is, with buffers that coincide as those of the phase do.
[[nodiscard]] Call call_of_phase(const Phase& phase, const Call& whole);

// The plans for all phases of a composition on this rank; none if no algorithm applies to one of
// them. `signature` is that of the whole call.
std::optional<ComposedPlan> plan_phases(const PlanContext& context, const Call& call,
                                        uint32_t signature, const Composition& composition);

// The composition of one phase that a call with that purpose is; null: it is a call of all ranks.
const Algorithm* algorithm_of_scope(Purpose purpose);

}  // namespace tutti
