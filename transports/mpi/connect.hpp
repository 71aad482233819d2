// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transports/transport.hpp"

namespace tutti::mpi {

// Whether there is an MPI and a module for it; initialises nothing.
Status available();

// Collective: succeeds on all ranks or gives all the same first error.
Result<std::unique_ptr<Transport>> connect(Exchange& exchange, const TransportConfig& config);

}  // namespace tutti::mpi
