// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transports/transport.hpp"

namespace tutti::ofi {

Status available();
// Whether it has a fast network here, or the provider that the user has named.
bool suits(const TransportConfig& config);

// Collective: succeeds on all ranks or gives all the same first error.
Result<std::unique_ptr<Transport>> connect(Exchange& exchange, const TransportConfig& config);

}  // namespace tutti::ofi
