// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The content of a status besides its three public fields.
#pragma once

#include <cstddef>

#include "api.hpp"

namespace tutti_mpi {

size_t bytes_in(const MPI_Status& status);
void set_bytes(MPI_Status& status, size_t bytes);

}  // namespace tutti_mpi
