// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Runs sequences of calls on all ranks of a lane, step by step in any order, with the log and the
// slot allocator that a lane has. Memory that ranks share holds no data, but for each byte the call
// that wrote it last. So a byte that is read before it is written in that call, or written again by
// a later one before it is read, is found, however far ranks run ahead.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "exec/call_log.hpp"
#include "exec/plan.hpp"
#include "exec/slot_allocator.hpp"
#include "fake_window.hpp"

namespace tutti {

// What is left out, to see that the model finds what follows.
enum class Omission : uint8_t {
  kNothing,
  kFlowControl,  // calls begin at once
  kSlotReuse,    // nobody waits for those that may still read a slot
};

struct ModelOptions {
  int ranks = 2;
  bool oversubscribed = false;
  Limits limits;
  Omission omission = Omission::kNothing;
};

class SequenceModel {
 public:
  // All ranks make these calls in this order; `plans[rank][i]` is of call i.
  using Plans = std::vector<std::vector<std::shared_ptr<const Plan>>>;
  SequenceModel(const ModelOptions& options, Plans plans);

  // Runs all to the end, in an order that follows from the seed. Returns what went wrong; empty:
  // nothing did.
  std::string run(uint32_t seed);

 private:
  using Stamps = std::vector<uint32_t>;  // by byte: the number of the call that wrote it
  struct Rank {
    std::unique_ptr<CallLog> log;
    std::unique_ptr<SlotAllocator> slots;
    size_t calls = 0;  // complete
    const Plan::Part* part = nullptr;
    bool begun = false;
    bool through = false;  // all its steps are done
    bool swapped = false;  // ping-pong slots
    uint64_t at = 0;       // of this call in its slots
    size_t next = 0;       // step
    std::vector<Stamps> lines;
    Stamps slots_written[2];
    Stamps ping_pong;
    Stamps window;
  };

  bool advance(Rank& rank);
  void start(Rank& rank);
  void place_slots(Rank& rank);
  bool begin(Rank& rank);
  bool finish(Rank& rank);
  bool run_step(Rank& rank, const Step& step);
  bool has_come(Rank& rank, int peer, uint32_t tick);
  bool all_have_entered(Rank& rank);
  void read_sources(Rank& rank, const Step& step);
  void read(Rank& rank, const Ref& ref, uint64_t bytes);
  void write(Rank& rank, const Ref& ref, uint64_t bytes);
  // The bytes of a shared space, as this rank sees it in its call; null for others.
  uint32_t* bytes_of(const Rank& rank, const Ref& ref);
  [[nodiscard]] int number_of(const Rank& rank) const {
    return static_cast<int>(&rank - ranks_.data());
  }
  void complain(const Rank& rank, const std::string& what);

  const ModelOptions options_;
  const Plans plans_;
  FakeWindow window_;
  std::vector<Rank> ranks_;
  std::string fault_;
};

// The plan of each rank for a call of `count` floats by that algorithm; empty if it does not apply,
// or works with more than lines, slots and windows.
std::vector<std::shared_ptr<const Plan>> shared_plans(const Algorithm& algorithm, uint64_t count,
                                                      int root, const ModelOptions& options);

}  // namespace tutti
