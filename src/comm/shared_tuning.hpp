// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How all ranks of a communicator come to choose by the same figures: rank 0 sends what it has.
#pragma once

#include "comm/runtime.hpp"
#include "core/exchange.hpp"
#include "select/tuning_file.hpp"

namespace tutti {

// Collective. What rank 0 would use (tuning_to_use), or its error, on every rank.
Result<FoundTuning> share_tuning(Exchange& exchange, Runtime& runtime);

}  // namespace tutti
