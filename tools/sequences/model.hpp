// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Runs sequences of calls on all ranks of a lane, step by step in any order, with the log and the
// slot allocator that a lane has. Memory that ranks share holds no data, but who wrote and read it
// last, and when by his clock (watched_memory.hpp). A rank learns the clock of a peer only from the
// entry or tick that it has to wait for, not from what it happens to see. So a run finds a byte
// that is read before it is written, or written again before it is read, even where its own order
// of steps hides that: one run stands for all orders in which the log sees the same.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "exec/addresses.hpp"
#include "exec/call_log.hpp"
#include "exec/plan.hpp"
#include "exec/slot_allocator.hpp"
#include "tools/sequences/fake_window.hpp"
#include "tools/sequences/watched_memory.hpp"

namespace tutti {

// What is left out, to see that the model finds what follows.
enum class Omission : uint8_t {
  kNothing,
  kFlowControl,  // calls begin at once
  kOneCall,      // or when all peers have entered the call before the one that counts
  kSlotReuse,    // nobody waits for those that may still read a slot
  kSwap,         // ping-pong slots stay with their ranks
  kTicks,        // nothing is known from ticks after the entry
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
  // What a rank has made known, and all that it knew then.
  struct Release {
    uint32_t tick;  // 1: its entry
    Clock clock;
  };
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
    uint32_t begins_after = 0;
    Clock clock;                                 // by rank: how far it knows of it
    std::vector<std::vector<Release>> released;  // by call
    std::vector<uint32_t> pulled;                // by rank: when it read buffers of this call
    std::vector<WatchedMemory> lines;
    std::vector<WatchedMemory> slot_copies;
    WatchedMemory ping_pong;
    WatchedMemory window;
  };

  bool advance(Rank& rank);
  void start(Rank& rank);
  void place_slots(Rank& rank);
  bool begin(Rank& rank);
  bool finish(Rank& rank);
  bool run_step(Rank& rank, const Step& step);
  void enter(Rank& rank);
  void release(Rank& rank, uint32_t tick);
  // The rank has waited for that.
  void learn(Rank& rank, int peer, uint32_t call, uint32_t tick);
  bool has_come(Rank& rank, int peer, uint32_t tick);
  bool all_have_entered(Rank& rank);
  void read_sources(Rank& rank, const Step& step);
  void read(Rank& rank, const Ref& ref, uint64_t bytes);
  void write(Rank& rank, const Ref& ref, uint64_t bytes);
  void pull(Rank& rank, int peer);
  // The memory of a shared space, as this rank sees it in its call, and where in it: none for
  // others.
  struct Place {
    WatchedMemory* memory;
    uint64_t offset;
  };
  Place place_of(const Rank& rank, const Ref& ref);
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
// or sends messages.
std::vector<std::shared_ptr<const Plan>> shared_plans(const Algorithm& algorithm, uint64_t count,
                                                      int root, const ModelOptions& options);

}  // namespace tutti
