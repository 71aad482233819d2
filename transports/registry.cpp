// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The list of transports: each folder defines `extern const TransportKind <name>_transport`.
#include <algorithm>
#include <array>

#include "transports/transport.hpp"

namespace tutti {

#define TUTTI_TRANSPORT(name) extern const TransportKind name##_transport;
#include "transports/registry.inc"
#undef TUTTI_TRANSPORT

std::span<const TransportKind* const> transport_kinds() {
  static constexpr auto kinds = std::to_array<const TransportKind*>({
#define TUTTI_TRANSPORT(name) &name##_transport,
#include "transports/registry.inc"
#undef TUTTI_TRANSPORT
  });
  return kinds;
}

const TransportKind& host_kind() {
  return **std::ranges::find(transport_kinds(), Reach::kHost, &TransportKind::reach);
}

}  // namespace tutti
