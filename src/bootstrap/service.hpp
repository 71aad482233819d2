// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The service at which the ranks of a new communicator meet. It is a thread in the process that
// made the id, or in that of rank 0. It listens at an abstract socket for processes of the same
// user and host. If the id has an address, it listens there, too, for whoever knows the secret. It
// tells everybody what is wrong with the set of ranks that arrived. Then it gathers bytes from all
// for all, any number of times. If all want it, it afterwards keeps them in touch (Exchange::stay).
// Each member brings its own deadline for the meeting; the earliest counts.
#pragma once

#include <cstdint>

#include "bootstrap/unique_id.hpp"
#include "core/fd.hpp"

namespace tutti {

// Starts the service of `id`, which ends by itself when all members have left or have been told why
// the meeting failed. Another service may still use the same name (a derived id of an earlier life
// of the job) or address (the communicator before). The start then waits for its end until the
// deadline.
Status start_service(const UniqueId& id, int64_t deadline_ms);

// Starts the relay of this host (bootstrap/relay.hpp), which ends by itself when the ranks that
// came to it have left. `listener` is bound to relay_name(), `service` a fresh connection to the
// service.
Status start_relay(const UniqueId& id, Fd listener, Fd service);

// A rank that runs the service but cannot take part keeps it up for so long, to tell those that are
// yet to come. Its process may end afterwards.
inline constexpr int64_t kTellMs = 10'000;

// Tells those that come why the service could not start, on behalf of rank `rank` of `ranks`. Runs
// in this thread until all have come, or the deadline, or for kTellMs.
void serve_failure(const UniqueId& id, int rank, int ranks, const Status& why, int64_t deadline_ms);

}  // namespace tutti
