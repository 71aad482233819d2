// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The entry in the list of transports, which is there also where the rest is not built.
#include "transports/transport.hpp"
#if defined(TUTTI_HAVE_LIBFABRIC)
#include "transports/ofi/connect.hpp"
#endif

namespace tutti {
#if !defined(TUTTI_HAVE_LIBFABRIC)
namespace ofi {
namespace {

Status available() {
  return {Code::kUnsupported,
          "this build has no ofi transport: the headers of libfabric 1.17 or newer were not found "
          "when it was made"};
}

// A provider that the user has named is not passed over in silence.
bool suits(const TransportConfig& config) {
  return !config.network.provider.empty() || config.network.limits_providers;
}

Result<std::unique_ptr<Transport>> connect(Exchange& /*exchange*/,
                                           const TransportConfig& /*config*/) {
  return available();
}

}  // namespace
}  // namespace ofi
#endif

extern const TransportKind ofi_transport;
const TransportKind ofi_transport = {
    .name = "ofi",
    .summary = "libfabric: between hosts, over fast networks",
    .reach = Reach::kNetwork,
    .available = ofi::available,
    .connect = ofi::connect,
    .suits = ofi::suits,
};

}  // namespace tutti
