// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A network within one process, for tests, which does to messages what networks do: they come late,
// overtake one another, come in parts of any length, and connections break. It stands below the ofi
// transport, as one of libfabric's providers, so that what runs over it is what runs over them.
//
// No clock is involved: time passes for a rank whenever it looks at what has come. With all ranks
// in one thread a seed gives the same run every time.
#pragma once

#include <rdma/fi_errno.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace tutti_test {

struct Weather {
  uint32_t seed = 1;
  // How many looks of its receiver a message is on its way, at most. Those from one rank to another
  // meet the buffers posted for them in the order sent, as libfabric promises.
  uint64_t travel = 6;
  // How many more, at most, until it has begun to fill its buffer: it may be full after those of
  // later messages.
  uint64_t pause = 12;
  // How much of a message comes at one look, at most.
  uint64_t part_bytes = 300'000;
  // One in so many sends and receives is refused for now; 0: none.
  uint32_t refusals = 8;
  // How many sends, or receives, may be under way at an endpoint.
  uint32_t depth = 512;
  // Interfaces of each rank, every one on a network of its own.
  uint32_t nics = 1;
};

// While it is there, it is what this process finds in the place of libfabric. Made before, and gone
// after, everything that uses it.
class Loopback {
 public:
  explicit Loopback(const Weather& weather);
  ~Loopback();
  Loopback(const Loopback&) = delete;

  // From the `sends`th send from now on, no message goes to or from the endpoint that was the
  // `opened`th to be opened (from 0); what is on its way is lost.
  void cut(int opened, uint64_t sends);
  // The same at once for all endpoints that this thread has opened.
  void cut_own();
  // The next send of that endpoint fails with this error of libfabric, and nothing else does.
  void fail_next_send(int opened, int error = FI_ECONNRESET);

  struct Counts {
    uint64_t overtaken = 0;  // messages that were whole after one sent later to the same rank
    uint64_t parts = 0;      // of messages that came in more than one
    uint64_t refused = 0;
    uint64_t at_close = 0;        // messages that came while their receiver was closing
    std::vector<uint64_t> bytes;  // sent, by interface
  };
  [[nodiscard]] Counts counts() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace tutti_test
