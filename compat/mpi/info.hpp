// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Hints: keys and values, which this library keeps and hands back, and does not follow.
#pragma once

#include <map>
#include <string>

#include "api.hpp"

struct MPI_ABI_Info {
  std::map<std::string, std::string> entries;
};

namespace tutti_mpi {

// A copy, to be freed; an empty one of MPI_INFO_NULL.
MPI_Info copy_of(MPI_Info info);

}  // namespace tutti_mpi
