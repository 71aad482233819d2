// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The entry of MPI in the list of transports.
#include "transports/mpi/connect.hpp"

namespace tutti {

extern const TransportKind mpi_transport;
const TransportKind mpi_transport = {
    .name = "mpi",
    .summary = "MPI: between hosts, if CCL_ATL_TRANSPORT names it",
    .reach = Reach::kNetwork,
    .available = mpi::available,
    .connect = mpi::connect,
    .suits = [](const TransportConfig&) { return false; },
};

}  // namespace tutti
