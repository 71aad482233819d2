// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The wait of a process in the system, by the call in which its first thread is; of one that has
// ended, by that of another thread which is none of the library's own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

enum class BlockedOn : uint8_t { kUnknown, kTime, kLock, kFile, kSocket, kChild, kSignal, kMemory };
inline constexpr BlockedOn kLastBlockedOn = BlockedOn::kMemory;

// The wait of a process by its pid in this process's namespace. Unknown where it is in no call, or
// may not be looked at.
BlockedOn blocked_on(int pid);
// What the system tells besides of a call that waits for descriptors.
struct Descriptors {
  // What a descriptor is: "socket:[17]".
  std::function<std::string(int)> target;
  // The descriptors that a select reads, by their number and the address of their set.
  std::function<std::vector<int>(uint64_t count, uint64_t at)> selected;
  // The descriptors in the array of a poll, by its address and length.
  std::function<std::vector<int>(uint64_t at, uint64_t count)> polled;
  // The descriptors in the set of an epoll, by its own descriptor.
  std::function<std::vector<int>(int)> in_set;
};
// The wait that a line of /proc/PID/syscall tells of.
BlockedOn blocked_in(const std::string& line, const Descriptors& descriptors);
// "waits for a lock or another thread"; empty if nothing is known.
std::string_view to_string(BlockedOn blocked);

}  // namespace tutti
