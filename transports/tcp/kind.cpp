// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The entry of TCP in the list of transports.
#include "transports/tcp/connect.hpp"

namespace tutti {

extern const TransportKind tcp_transport;
const TransportKind tcp_transport = {
    .name = "tcp",
    .summary = "TCP: between hosts, over any network",
    .reach = Reach::kNetwork,
    .available = tcp::available,
    .connect = tcp::connect,
};

}  // namespace tutti
