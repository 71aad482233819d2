// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The exchange of messages in which one rank measures the network to another, as both of its sides.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/network_measurement.hpp"
#include "core/wait.hpp"
#include "transports/endpoint.hpp"

namespace tutti {

// Requests messages of one rank as a measurement wants them, and serves another (or the same) until
// that has enough. Messages that are under way when it is destroyed are forgotten.
class NetworkProbe {
 public:
  NetworkProbe(Endpoint& network, int asked, int asking, uint64_t longest)
      : network_(network), asked_(asked), asking_(asking), longest_(longest), payload_(longest) {}
  ~NetworkProbe();
  NetworkProbe(const NetworkProbe&) = delete;

  Status run(NetworkMeasurement& measurement, const Waiter& waiter);

 private:
  struct ProbeRequest {
    uint64_t bytes = 0;
    bool open = false;
    Transfer out;
    Transfer reply;
    std::vector<std::byte> memory;
  };

  [[nodiscard]] bool over() const { return end_of_requests_.done && served_ && !serving(); }
  [[nodiscard]] bool serving() const;
  Status advance(NetworkMeasurement& measurement);
  Status ask(NetworkMeasurement& measurement);
  Status take(NetworkMeasurement& measurement);
  Status serve();
  void listen();

  Endpoint& network_;
  const int asked_;
  const int asking_;
  const uint64_t longest_;
  // Requests of this rank to the other one.
  std::array<ProbeRequest, kMostAhead> requests_;
  size_t first_ = 0;  // the oldest that is open, if one is
  size_t open_ = 0;
  bool enough_ = false;          // no more requests
  bool said_enough_ = false;     // end_of_requests_ was sent
  const uint64_t no_bytes_ = 0;  // body of end_of_requests_
  Transfer end_of_requests_;     // message that says that this rank asks no more
  // Requests of the other rank to this one.
  uint64_t incoming_bytes_ = 0;  // bytes that the next request asks for
  Transfer incoming_;            // receive of the next request
  bool served_ = false;
  std::array<Transfer, kMostAhead> replies_;
  std::array<bool, kMostAhead> replying_{};
  std::vector<std::byte> payload_;  // of replies to those requests
};

}  // namespace tutti
