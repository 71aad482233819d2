// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "proof/watched_memory.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti {

WatchedMemory::WatchedMemory(std::string name, uint64_t bytes, size_t ranks)
    : name_(std::move(name)), units_(bytes / kUnit), read_(ranks, Clock(bytes / kUnit)) {}

std::string WatchedMemory::write(uint64_t offset, uint64_t bytes, size_t rank, uint32_t call,
                                 const Clock& clock) {
  for (uint64_t i = offset / kUnit; i < (offset + bytes + kUnit - 1) / kUnit; ++i) {
    Unit& unit = units_.at(i);
    if (unit.written > clock[unit.writer]) {
      return fmt::format("writes byte {} of {}, which rank {} may yet write in call {}", i * kUnit,
                         name_, unit.writer, unit.call);
    }
    for (size_t reader = 0; reader < read_.size(); ++reader) {
      if (read_[reader][i] > clock[reader]) {
        return fmt::format("writes byte {} of {}, which rank {} may yet read in call {}", i * kUnit,
                           name_, reader, unit.call);
      }
      read_[reader][i] = 0;
    }
    unit = {call, static_cast<uint32_t>(rank), clock[rank]};
  }
  return {};
}

std::string WatchedMemory::read(uint64_t offset, uint64_t bytes, size_t rank, uint32_t call,
                                const Clock& clock) {
  for (uint64_t i = offset / kUnit; i < (offset + bytes + kUnit - 1) / kUnit; ++i) {
    const Unit& unit = units_.at(i);
    if (unit.call != call || unit.written > clock[unit.writer]) {
      return fmt::format(
          "reads byte {} of {} without waiting for it; rank {} wrote there in call {}", i * kUnit,
          name_, unit.writer, unit.call);
    }
    read_[rank][i] = clock[rank];
  }
  return {};
}

}  // namespace tutti
