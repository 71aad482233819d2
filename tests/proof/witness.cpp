// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "proof/witness.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {
namespace {

constexpr uint64_t kBufferBytes = 1 << 30;  // of each rank; more than any call has

size_t lines_for(uint64_t bytes) { return (bytes + sizeof(CallLine) - 1) / sizeof(CallLine); }

}  // namespace

Witness::Witness(int ranks, const LaneMemorySizes& sizes)
    : ranks_(static_cast<size_t>(ranks)), lines_(ranks_.size()) {
  const size_t of_slot = lines_for(sizes.slots.slot_bytes);
  const size_t of_rank = kCallLines + 3 * of_slot + lines_for(sizes.window_bytes);
  memory_ = std::vector<CallLine>(of_rank * ranks_.size());
  for (int rank = 0; rank < ranks; ++rank) {
    Rank& here = at(rank);
    here.clock.assign(ranks_.size(), 0);
    here.clock[static_cast<size_t>(rank)] = 1;
    here.pulled.assign(ranks_.size(), 0);
    CallLine* line = &memory_[of_rank * static_cast<size_t>(rank)];
    Lines& others = lines_[static_cast<size_t>(rank)];
    LaneMemory::Rank& shared = shared_.emplace_back();
    shared = {.calls = line,
              .records = others.records.data(),
              .progress = &others.progress,
              .departure = &others.departure,
              .slots = {},
              .ping_pong = nullptr,
              .window = nullptr};
    const auto next = [&](const char* what, size_t lines) {
      auto* const begin = reinterpret_cast<std::byte*>(line);
      line += lines;
      regions_.push_back({begin, WatchedMemory(fmt::format("{} of rank {}", what, rank),
                                               lines * sizeof(CallLine), ranks_.size())});
      return begin;
    };
    next("the lines", kCallLines);
    for (std::byte*& slot : shared.slots) slot = next("a slot", of_slot);
    shared.ping_pong = next("the ping-pong slot", of_slot);
    shared.window = next("the window", lines_for(sizes.window_bytes));
  }
}

std::byte* Witness::buffers_of(int rank) {
  return reinterpret_cast<std::byte*>(kBufferBytes * (1024 + static_cast<uint64_t>(rank)));
}

void Witness::starts(int rank, uint32_t call) {
  at(rank).call = call;
  at(rank).released.resize(call + 1);
}

void Witness::releases(int rank, uint32_t tick) {
  Rank& here = at(rank);
  here.released[here.call].push_back({tick, here.clock});
  ++here.clock[static_cast<size_t>(rank)];
}

void Witness::learns(int rank, int peer, uint32_t call, uint32_t tick) {
  if (peer == rank) return;
  const std::vector<std::vector<Release>>& released = at(peer).released;
  const auto none = [&] { complain(rank, fmt::format("goes on before rank {}", peer)); };
  if (call >= released.size()) return none();
  const auto known = std::ranges::find_if(
      released[call], [tick](const Release& release) { return release.tick >= tick; });
  if (known == released[call].end()) return none();
  Clock& clock = at(rank).clock;
  for (size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], known->clock[i]);
}

Witness::Region* Witness::region_of(const void* at) {
  const auto* const byte = static_cast<const std::byte*>(at);
  const auto found = std::ranges::find_if(regions_, [byte](const Region& region) {
    return byte >= region.begin && byte < region.begin + region.memory.bytes();
  });
  return found == regions_.end() ? nullptr : &*found;
}

void Witness::writes(int rank, const void* at, uint64_t bytes) {
  Region* const region = region_of(at);
  if (region == nullptr) return;
  const auto offset = static_cast<uint64_t>(static_cast<const std::byte*>(at) - region->begin);
  const Rank& here = this->at(rank);
  complain(rank,
           region->memory.write(offset, bytes, static_cast<size_t>(rank), here.call, here.clock));
}

void Witness::reads(int rank, const void* at, uint64_t bytes) {
  Region* const region = region_of(at);
  if (region == nullptr) return;
  const auto offset = static_cast<uint64_t>(static_cast<const std::byte*>(at) - region->begin);
  const Rank& here = this->at(rank);
  complain(rank,
           region->memory.read(offset, bytes, static_cast<size_t>(rank), here.call, here.clock));
}

void Witness::pulls(int rank, int peer, uint64_t from, uint64_t bytes) {
  Rank& here = at(rank);
  Rank& owner = at(peer);
  const auto begin = reinterpret_cast<uint64_t>(buffers_of(peer));
  if (from < begin || from + bytes > begin + kBufferBytes) {
    complain(rank, fmt::format("reads where rank {} has no buffer", peer));
  }
  const bool entered = owner.call >= here.call && !owner.released[here.call].empty();
  const auto of_peer = static_cast<size_t>(peer);
  if (!entered || owner.released[here.call].front().clock[of_peer] > here.clock[of_peer]) {
    complain(rank, fmt::format("reads buffers of rank {} before it knows its entry", peer));
  }
  if (owner.ended >= here.call) {
    complain(rank, fmt::format("reads buffers of rank {}, which has ended the call", peer));
  }
  owner.pulled[static_cast<size_t>(rank)] = here.clock[static_cast<size_t>(rank)];
}

void Witness::ends(int rank) {
  Rank& here = at(rank);
  for (size_t reader = 0; reader < ranks_.size(); ++reader) {
    if (here.pulled[reader] <= here.clock[reader]) continue;
    complain(rank, fmt::format("ends while rank {} may yet read its buffers", reader));
  }
  std::ranges::fill(here.pulled, 0);
  here.ended = here.call;
}

void Witness::complain(int rank, const std::string& what) {
  if (what.empty() || !fault_.empty()) return;
  faulty_rank_ = rank;
  fault_ = fmt::format("rank {} in call {} {}", rank, at(rank).call, what);
}

}  // namespace tutti
