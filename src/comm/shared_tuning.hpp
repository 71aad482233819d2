// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How all ranks of a communicator come to use the same tuning file: rank 0 sends what it has.
#pragma once

#include <optional>

#include "comm/runtime.hpp"
#include "core/exchange.hpp"
#include "select/tuning_file.hpp"

namespace tutti {

// Collective. Rank 0's file, or its error, on every rank.
Result<std::optional<FoundTuning>> share_tuning(Exchange& exchange, Runtime& runtime);

}  // namespace tutti
