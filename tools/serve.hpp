// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A server of one page over HTTP, for a scraper: one connection at a time, each with a deadline.
#pragma once

#include <functional>
#include <string>

#include "core/status.hpp"

namespace tutti::tools {

// "9400": of this host's loopback alone; "0.0.0.0:9400", "[::1]:9400": where that says. Serves
// GET /metrics until the process is ended; `page` is asked each time.
tutti::Status serve_metrics(const std::string& where, const std::function<std::string()>& page);

}  // namespace tutti::tools
