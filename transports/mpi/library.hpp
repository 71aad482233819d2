// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The MPI of this process, and the module that knows its binary interface. Nothing is linked: the
// MPI is the one that the program has loaded, or else opened here when it is first needed.
#pragma once

#include <string>
#include <string_view>

#include "core/status.hpp"
#include "transports/mpi/table.h"

namespace tutti::mpi {

struct Library {
  const tutti_mpi_table* table = nullptr;
  std::string version;  // version that the MPI reports, one line
  std::string module;   // path of the library
};

// The process's; the same answer every time. Never closed.
const Result<Library>& library();
// The library's table of functions, where there is one.
inline const tutti_mpi_table& table() { return *library()->table; }

// An error in MPI's words for `error`, not 0, that a function of the table returned.
Status reason(int error);

}  // namespace tutti::mpi
