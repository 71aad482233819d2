// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The service at which the ranks of a communicator to be meet: a thread in the process that made
// the id. It lets in processes of the same user that know the secret, tells everybody what is wrong
// with the set of ranks that arrived, and then gathers bytes from all for all, any number of times.
// Each member brings its own deadline; the earliest counts.
#pragma once

#include <cstdint>

#include "bootstrap/unique_id.hpp"

namespace tutti {

// Starts the service of `id`, which ends by itself when all members have left or have been told
// why the meeting failed. If another process still serves the same name (a derived id of an
// earlier life of the job), waits for it to end until the deadline.
Status start_service(const UniqueId& id, int64_t deadline_ms);

}  // namespace tutti
