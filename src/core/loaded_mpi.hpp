// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The MPI that this process has loaded. Two families of libraries differ in their handles. Open
// MPI's are addresses of symbols. MPICH and all that keep its binary interface (Intel MPI, MVAPICH,
// Cray) have numbers that this interface fixes.
#pragma once

#include <optional>
#include <string>

#include "core/opened_library.hpp"

namespace tutti {

enum class MpiFamily : uint8_t { kOpenMpi, kMpich };

// `scope`: RTLD_GLOBAL makes its functions visible to libraries that are opened afterwards.
std::optional<OpenedLibrary> loaded_mpi(int scope = RTLD_LOCAL);
// What it says of itself, one line up to a comma; empty if it says nothing.
std::string version_of_mpi(const OpenedLibrary& mpi);
Result<MpiFamily> family_of_mpi(const OpenedLibrary& mpi);

}  // namespace tutti
