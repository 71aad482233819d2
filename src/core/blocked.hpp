// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The wait of a process in the system, by the call in which its first thread is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tutti {

enum class BlockedOn : uint8_t { kUnknown, kTime, kLock, kFile, kSocket, kChild, kSignal };
inline constexpr BlockedOn kLastBlockedOn = BlockedOn::kSignal;

// The wait of a process by its pid in this process's namespace. Unknown where it is in no call, or
// may not be looked at.
BlockedOn blocked_on(int pid);
// The wait that a line of /proc/PID/syscall tells of. `target` tells what a descriptor is:
// "socket:[17]".
BlockedOn blocked_in(const std::string& line, const std::function<std::string(int)>& target);
// "waits for a lock or another thread"; empty if nothing is known.
std::string_view to_string(BlockedOn blocked);

}  // namespace tutti
