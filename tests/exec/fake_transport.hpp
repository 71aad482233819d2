// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks of one host of which nothing is there but their names and the state that they share.
#pragma once

#include <memory>
#include <string_view>

#include "transports/transport.hpp"

namespace tutti {

class FakeTransport final : public Transport, private Recovery {
 public:
  explicit FakeTransport(SharedState& state) : state_(state) {}
  [[nodiscard]] std::string_view name() const override { return "fake"; }
  Result<std::unique_ptr<Endpoint>> open_endpoint(int /*channel*/) override {
    return std::unique_ptr<Endpoint>();
  }
  Recovery& recovery() override { return *this; }
  Bell* bell(int /*rank*/) override { return nullptr; }
  Sleepers* sleepers() override { return nullptr; }
  void notify() override {}
  [[nodiscard]] const PeerProcess& process(int /*rank*/) const override { return process_; }

 private:
  SharedState* shared_state() override { return &state_; }

  SharedState& state_;
  const PeerProcess process_;
};

}  // namespace tutti
