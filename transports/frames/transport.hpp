// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A transport whose endpoints are made of frames, over any network that has ports.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "transports/frames/port.hpp"
#include "transports/transport.hpp"

namespace tutti::frames {

using Ports = std::vector<std::unique_ptr<Port>>;

struct Network {
  std::string_view name;       // of the transport
  std::string_view long_name;  // its name in texts: "libfabric (ofi)"
  // Whether this process can use it; told to all, whatever it is.
  Status (*usable)();
  // Collective: this rank's port of each channel, which knows those of all ranks; or the same error
  // on all. `alone`: all ranks share one network stack.
  Result<Ports> (*open_ports)(Exchange& exchange, const TransportConfig& config, bool alone);
  // See Recovery::has_failed(); null if that makes no difference.
  void (*has_failed)(Code why) = nullptr;
  bool encrypts = false;  // where it is asked to
};

// Collective: succeeds on all ranks or gives all the same first error.
Result<std::unique_ptr<Transport>> connect(Exchange& exchange, const TransportConfig& config,
                                           const Network& network);

}  // namespace tutti::frames
