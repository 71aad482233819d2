// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The choice of a schedule for a call whose buffers lie in memory of a device that all ranks reach.
// The cheapest wins of those that read the buffers of peers and use no memory of the host. All
// ranks come to the same choice, as selector.hpp says.
#pragma once

#include <string_view>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "select/device_figures.hpp"

namespace tutti {

// Whether a call of so many elements per block can have such a schedule.
[[nodiscard]] Applies can_run_on_devices(Collective collective, uint64_t count, int ranks);

// The problem as algorithms see it if all buffers are memory of devices that all ranks reach.
[[nodiscard]] Problem on_device(Problem problem);

// Whether engines of devices can run it. It may copy and reduce the caller's buffers, its peers'
// and private memory. Between ranks it may have only ticks, of which a rank awaits none before it
// has published its own of that number.
[[nodiscard]] Applies runs_on_device(const Schedule& schedule);

[[nodiscard]] double device_seconds(const Schedule& schedule, const DeviceFigures& figures);

struct DeviceCandidate {
  const Algorithm* algorithm = nullptr;
  Applies applies;
  double seconds = 0;  // cost model's time, if it applies
};
// All of the collective that apply on_device(problem), in the order of registry.inc.
[[nodiscard]] std::vector<DeviceCandidate> device_candidates(const Problem& problem,
                                                             const DeviceFigures& figures = {});
// The cheapest; null if there is none, so that the call is staged in memory of the host.
[[nodiscard]] const Algorithm* choose_on_device(const Problem& problem,
                                                const DeviceFigures& figures = {});

}  // namespace tutti
