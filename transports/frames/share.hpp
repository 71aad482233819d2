// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What every rank has to say, of any length, or why it cannot: an exchange in as many rounds as
// that takes.
#pragma once

#include <string>
#include <vector>

#include "core/exchange.hpp"

namespace tutti::frames {

// Collective. Every rank's text in rank order; if some rank came with an error, all get the error
// of the first of them, with "rank 3: " before it.
Result<std::vector<std::string>> share(Exchange& exchange, const Result<std::string>& mine);

}  // namespace tutti::frames
