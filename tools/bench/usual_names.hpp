// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Names that users of MPI, NCCL and PyTorch know, for the collectives and types of all subcommands.
#pragma once

#include <string>
#include <string_view>

#include "core/status.hpp"
#include "core/types.hpp"

namespace tutti::bench {

// Tutti's name of a collective that may be given as elsewhere: "bcast", "all_reduce",
// "reduce-scatter". An unknown name stays as it is.
std::string usual_collective(std::string_view name);
// Tutti's name of an element type: "float", "double", "half", "bf16", "int".
std::string usual_type(std::string_view name);
// The one of any such name; an error lists them.
Result<Collective> collective_named(std::string_view name);
Result<DataType> type_named(std::string_view name);

}  // namespace tutti::bench
