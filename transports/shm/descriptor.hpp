// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The description of a communicator's shared memory for those that look at it from outside: `tutti
// why` and its like (src/inspect). Written once at set-up, and never read by the ranks. Another
// version of Tutti may have written it, so it says where everything lies that may be looked at. An
// incompatible change changes the version.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/stamp.hpp"
#include "transports/shm/layout.hpp"
#include "transports/shm/region.hpp"
#include "transports/transport.hpp"

namespace tutti::shm {

inline constexpr uint64_t kDescriptorAt = kInterferenceBytes;
inline constexpr uint64_t kDescriptorMagic = 0x6d68736974747554;  // "Tuttishm"
inline constexpr uint32_t kDescriptorVersion = 4;

struct Descriptor {
  std::atomic<uint64_t> magic;  // the rest precedes it
  uint32_t version;
  uint32_t descriptor_bytes;
  uint64_t near_bytes;  // all that follows lies within so many
  uint32_t ranks;       // number of ranks on this host
  uint32_t lanes;
  uint32_t all_ranks;   // number of ranks of the communicator
  uint32_t call_lines;  // lines of each rank and lane, and as many records
  uint64_t state_at;
  uint64_t members_at;     // a Member for each rank of this host
  uint64_t departures_at;  // a Departure for each rank of this host
  uint64_t lines_at;       // offset of the lines: lane_bytes for each lane of each rank
  uint64_t lane_bytes;
  // Within these; call lines come first.
  uint32_t call_line_bytes;
  uint32_t records_at;
  uint32_t progress_at;
  uint32_t notes_at;
  uint32_t notes_bytes;
  uint64_t key;  // of the communicator, equal on all hosts; 0: none
  Moment made;
  char name[64];  // name of the communicator
  char job[64];   // TUTTI_JOB
  char host[64];
};
static_assert(sizeof(Descriptor) <= kDescriptorBytes);

// A rank of the host, written by itself.
struct Member {
  std::atomic<uint32_t> present;  // the rest precedes it
  int32_t rank;                   // rank's number in the communicator
  int32_t global_rank;            // rank's number in the job; -1: equal to `rank`
  int32_t pid;                    // the process as it calls itself
  uint64_t started;    // start of its process, in ticks since boot (core/process_state.hpp)
  uint64_t inquiries;  // socket for inquiries (inspect/inquiry.hpp); 0: it has none
};

static_assert(sizeof(Member) == kMemberBytes);

// Writes the description; every rank of the host does so when all have attached.
void describe(const Region& region, const Layout& layout, const TransportConfig& config, int rank);

}  // namespace tutti::shm
