// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/lane.hpp"

#include "exec/lane_errors.hpp"
#include "exec/lane_measures.hpp"
#include "exec/lane_peers.hpp"
#include "exec/lane_run.hpp"

namespace tutti {

template class BasicLane<HostComponents>;

}  // namespace tutti
