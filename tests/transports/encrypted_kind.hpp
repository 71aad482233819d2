// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The tcp transport, encrypted, as a transport of its own, so that the tests of every transport run
// over it.
#pragma once

#include "transports/tcp/connect.hpp"

namespace tutti_test {

inline tutti::Result<std::unique_ptr<tutti::Transport>> connect_encrypted(
    tutti::Exchange& exchange, const tutti::TransportConfig& given) {
  tutti::TransportConfig config = given;
  config.network.encrypt = true;
  return tutti::tcp::connect(exchange, config);
}

inline constexpr tutti::TransportKind kEncrypted = {"encrypted", "tcp, encrypted",
                                                    tutti::Reach::kNetwork, tutti::tcp::available,
                                                    connect_encrypted};

}  // namespace tutti_test
