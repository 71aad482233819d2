// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The buffers of one measurement on this rank: allocated, filled, and compared with what must have
// come of them.
#pragma once

#include <tutti/tutti.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "tools/bench/collectives.hpp"
#include "tools/bench/device.hpp"
#include "tools/bench/pattern.hpp"

namespace tutti::bench {

// A measurement: one line of the table.
struct Case {
  const Collective* collective;
  tutti_type type;
  ReduceOp op;
  size_t count;

  [[nodiscard]] size_t bytes() const { return count * tutti_type_size(type); }
};

// The communicator, and how to call.
struct Setting {
  tutti_comm_t comm;
  int rank;
  int ranks;
  int root;
  bool in_place;
  size_t buffers;  // sets that calls use in turn
  bool shared;     // memory of tutti_alloc, which peers can read
  bool huge_pages;
  Device* device;  // the calls' buffers are on it; null: on the host
};

class Buffers {
 public:
  // Throws std::bad_alloc.
  Buffers(const Case& measured, const Setting& setting);

  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }  // one per set
  // Fresh input, and a receive buffer that no call has written yet.
  void prepare(size_t set);
  [[nodiscard]] std::optional<Mismatch> check(size_t set);

 private:
  struct Free {
    tutti_comm_t comm = nullptr;  // communicator that gave it; null: the heap did
    void operator()(void* memory) const {
      if (comm == nullptr) return std::free(memory);
      tutti_free(comm, memory);
    }
  };
  using Memory = std::unique_ptr<void, Free>;

  struct FreeOnDevice {
    Device* device;
    void operator()(void* memory) const { device->free(memory); }
  };
  struct Twin {
    std::byte* host;
    size_t bytes;
    std::unique_ptr<void, FreeOnDevice> memory;
  };

  Call allocate_set();
  void* allocate(size_t count);
  [[nodiscard]] void* on_device(const void* host) const;
  void upload(size_t set);
  void download(size_t set);
  [[nodiscard]] std::optional<Mismatch> find_mismatch(size_t set) const;
  [[nodiscard]] size_t elements(Blocks blocks) const;
  [[nodiscard]] Pattern input(int rank) const;
  [[nodiscard]] std::optional<Mismatch> check_all_ranks(const Call& call, size_t first) const;

  Case case_;
  Setting setting_;
  std::vector<size_t> counts_;
  std::vector<Memory> memory_;
  std::vector<Twin> twins_;       // of memory_, if there is a device
  std::vector<Call> host_calls_;  // calls on the host, whose buffers are filled and compared
  std::vector<Call> calls_;       // calls that are made: host_calls_, or those on the device
};

}  // namespace tutti::bench
