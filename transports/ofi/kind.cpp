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

Result<std::unique_ptr<Transport>> connect(Exchange& /*exchange*/,
                                           const TransportConfig& /*config*/) {
  return available();
}

}  // namespace
}  // namespace ofi
#endif

extern const TransportKind ofi_transport;
const TransportKind ofi_transport = {"ofi", "libfabric: between hosts, over fast networks or TCP",
                                     Reach::kNetwork, ofi::available, ofi::connect};

}  // namespace tutti
