// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Starts `tutti watch` for the job of this process (TUTTI_WATCH).
#pragma once

#include <string>

#include "core/status.hpp"

namespace tutti {

// Starts it once per process. It writes reports, and its output as watch.log, to `folder`, which is
// made, and ends with the job. It is no child that this process could wait for, holds none of its
// descriptors, ignores its terminal, and has the lowest priority. An error: it cannot be started.
Status start_watch(const std::string& folder);

}  // namespace tutti
