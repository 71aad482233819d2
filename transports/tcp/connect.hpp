// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "transports/nics/offer.hpp"
#include "transports/transport.hpp"

namespace tutti::tcp {

Status available();
// A route per address of each interface, those that the user wants (nics::keep_usable).
Result<std::vector<nics::Offer>> find_offers(const TransportConfig& config, bool alone);

// Collective: succeeds on all ranks or gives all the same first error.
Result<std::unique_ptr<Transport>> connect(Exchange& exchange, const TransportConfig& config);

}  // namespace tutti::tcp
