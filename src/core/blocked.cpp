// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/blocked.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>

#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>

namespace tutti {
namespace {

// Stands for calls whose first argument, a descriptor, says what is waited for.
constexpr auto kByDescriptor = static_cast<BlockedOn>(UINT8_MAX);

constexpr std::pair<long, BlockedOn> kCalls[] = {
    {SYS_nanosleep, BlockedOn::kTime},
    {SYS_clock_nanosleep, BlockedOn::kTime},
    {SYS_futex, BlockedOn::kLock},
    {SYS_flock, BlockedOn::kLock},
    {SYS_semtimedop, BlockedOn::kLock},
    {SYS_openat, BlockedOn::kFile},
    {SYS_fsync, BlockedOn::kFile},
    {SYS_fdatasync, BlockedOn::kFile},
    {SYS_sync, BlockedOn::kFile},
    {SYS_read, kByDescriptor},
    {SYS_readv, kByDescriptor},
    {SYS_pread64, kByDescriptor},
    {SYS_write, kByDescriptor},
    {SYS_writev, kByDescriptor},
    {SYS_pwrite64, kByDescriptor},
    {SYS_recvfrom, BlockedOn::kSocket},
    {SYS_recvmsg, BlockedOn::kSocket},
    {SYS_sendto, BlockedOn::kSocket},
    {SYS_sendmsg, BlockedOn::kSocket},
    {SYS_connect, BlockedOn::kSocket},
    {SYS_accept, BlockedOn::kSocket},
    {SYS_accept4, BlockedOn::kSocket},
    {SYS_epoll_pwait, BlockedOn::kSocket},
    {SYS_wait4, BlockedOn::kChild},
    {SYS_waitid, BlockedOn::kChild},
    {SYS_clone, BlockedOn::kChild},  // as vfork(2) does
    {SYS_clone3, BlockedOn::kChild},
    {SYS_rt_sigsuspend, BlockedOn::kSignal},
    {SYS_rt_sigtimedwait, BlockedOn::kSignal},
#ifdef SYS_open  // what newer architectures have no more
    {SYS_open, BlockedOn::kFile},
    {SYS_epoll_wait, BlockedOn::kSocket},
    {SYS_vfork, BlockedOn::kChild},
    {SYS_pause, BlockedOn::kSignal},
#endif
};

// True for poll(2) and select(2), which sleep if they have no descriptors.
bool waits_for_descriptors(long number, uint64_t first, uint64_t second, bool& none) {
#ifdef SYS_poll
  if (number == SYS_select) {
    none = first == 0;
    return true;
  }
  if (number == SYS_poll) {
    none = second == 0;
    return true;
  }
#endif
  if (number == SYS_pselect6) none = first == 0;
  if (number == SYS_ppoll) none = second == 0;
  return number == SYS_pselect6 || number == SYS_ppoll;
}

}  // namespace

BlockedOn blocked_in(const std::string& line, const std::function<std::string(int)>& target) {
  long number = 0;
  uint64_t first = 0;
  uint64_t second = 0;
  if (std::sscanf(line.c_str(), "%ld %" SCNx64 " %" SCNx64, &number, &first, &second) != 3) {
    return BlockedOn::kUnknown;
  }
  bool none = false;
  if (waits_for_descriptors(number, first, second, none)) {
    return none ? BlockedOn::kTime : BlockedOn::kSocket;
  }
  if (number == SYS_fcntl) {
    const bool waits = second == F_SETLKW || second == F_OFD_SETLKW;
    return waits ? BlockedOn::kLock : BlockedOn::kUnknown;
  }
  for (const auto& [call, blocked] : kCalls) {
    if (call != number) continue;
    if (blocked != kByDescriptor) return blocked;
    const bool socket = target(static_cast<int>(first)).starts_with("socket:");
    return socket ? BlockedOn::kSocket : BlockedOn::kFile;
  }
  return BlockedOn::kUnknown;
}

BlockedOn blocked_on(int pid) {
  const std::string folder = fmt::format("/proc/{}", pid);
  std::ifstream file(folder + "/syscall");
  std::string line;
  if (!std::getline(file, line)) return BlockedOn::kUnknown;
  return blocked_in(line, [&](int descriptor) {
    std::error_code error;
    const auto path = fmt::format("{}/fd/{}", folder, descriptor);
    return std::filesystem::read_symlink(path, error).string();
  });
}

std::string_view to_string(BlockedOn blocked) {
  switch (blocked) {
    case BlockedOn::kTime: return "sleeps for a time";
    case BlockedOn::kLock: return "waits for a lock or another thread";
    case BlockedOn::kFile: return "waits for a file or a pipe";
    case BlockedOn::kSocket: return "waits for a socket";
    case BlockedOn::kChild: return "waits for a child process";
    case BlockedOn::kSignal: return "waits for a signal";
    case BlockedOn::kUnknown: break;
  }
  return "";
}

}  // namespace tutti
