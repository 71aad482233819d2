// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Plans of the phases of a composition.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/composition.hpp"
#include "exec/plan.hpp"

namespace tutti {

// The plans for all phases of a composition on this rank; none if no algorithm applies to one of
// them. `signature` is that of the whole call.
std::optional<ComposedPlan> plan_phases(const PlanContext& context, const Call& call,
                                        uint32_t signature, const Composition& composition);

}  // namespace tutti
