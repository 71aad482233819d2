// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/blocked.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>

#include "core/fd.hpp"
#include "core/files.hpp"
#include "core/folder.hpp"
#include "core/thread.hpp"

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
    {SYS_wait4, BlockedOn::kChild},
    {SYS_waitid, BlockedOn::kChild},
    {SYS_clone, BlockedOn::kChild},  // vfork(2) waits so
    {SYS_clone3, BlockedOn::kChild},
    {SYS_rt_sigsuspend, BlockedOn::kSignal},
    {SYS_rt_sigtimedwait, BlockedOn::kSignal},
#ifdef SYS_open  // absent from newer architectures
    {SYS_open, BlockedOn::kFile},
    {SYS_vfork, BlockedOn::kChild},
    {SYS_pause, BlockedOn::kSignal},
#endif
};

// How many descriptors of a poll are looked at.
constexpr uint64_t kMostPolled = 64;

enum class Several : uint8_t { kNo, kSelect, kPoll, kEpoll };

// Whether the call waits for several descriptors at once.
Several waits_for_several(long number) {
#ifdef SYS_poll
  if (number == SYS_select) return Several::kSelect;
  if (number == SYS_poll) return Several::kPoll;
  if (number == SYS_epoll_wait) return Several::kEpoll;
#endif
#ifdef SYS_epoll_pwait2  // absent from headers of Linux before 5.11
  if (number == SYS_epoll_pwait2) return Several::kEpoll;
#endif
  if (number == SYS_pselect6) return Several::kSelect;
  if (number == SYS_ppoll) return Several::kPoll;
  if (number == SYS_epoll_pwait) return Several::kEpoll;
  return Several::kNo;
}

BlockedOn by_target(const std::string& target) {
  constexpr std::pair<std::string_view, BlockedOn> kTargets[] = {
      {"socket:", BlockedOn::kSocket},
      {"anon_inode:[eventfd]", BlockedOn::kLock},  // another thread writes it
      {"anon_inode:[timerfd]", BlockedOn::kTime},
      {"anon_inode:[signalfd]", BlockedOn::kSignal},
      {"anon_inode:[pidfd]", BlockedOn::kChild},
  };
  for (const auto& [begin, blocked] : kTargets) {
    if (target.starts_with(begin)) return blocked;
  }
  return BlockedOn::kFile;
}

// Sockets come before what programs watch beside them; those that cannot be known may be sockets.
BlockedOn by_targets(const std::vector<int>& several, const Descriptors& descriptors) {
  BlockedOn found = BlockedOn::kUnknown;
  for (const int descriptor : several) {
    const BlockedOn one = by_target(descriptors.target(descriptor));
    if (one == BlockedOn::kSocket) return one;
    if (found == BlockedOn::kUnknown || found == BlockedOn::kLock) found = one;
  }
  return found == BlockedOn::kUnknown ? BlockedOn::kSocket : found;
}

// Reads the memory of a thread, whose folder in /proc is given.
template <typename T>
bool take_memory(const std::string& folder, uint64_t at, std::vector<T>& to) {
  const auto bytes = static_cast<ssize_t>(to.size() * sizeof(T));
  const Fd memory(open((folder + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  return pread(memory.get(), to.data(), static_cast<size_t>(bytes), static_cast<off_t>(at)) ==
         bytes;
}

std::vector<int> selected_by(const std::string& folder, uint64_t count, uint64_t at) {
  constexpr uint64_t kBits = 64;
  const uint64_t bits = std::min<uint64_t>(count, FD_SETSIZE);
  std::vector<uint64_t> words((bits + kBits - 1) / kBits);
  if (at == 0 || !take_memory(folder, at, words)) return {};
  std::vector<int> descriptors;
  for (uint64_t i = 0; i < bits; ++i) {
    if ((words[i / kBits] >> i % kBits & 1) != 0) descriptors.push_back(static_cast<int>(i));
  }
  return descriptors;
}

std::vector<int> polled_by(const std::string& folder, uint64_t at, uint64_t count) {
  std::vector<pollfd> all(std::min(count, kMostPolled));
  if (!take_memory(folder, at, all)) return {};
  std::vector<int> descriptors;
  for (const pollfd& one : all) {
    if (one.fd >= 0) descriptors.push_back(one.fd);
  }
  return descriptors;
}

std::vector<int> in_set_of(const std::string& folder, int epoll) {
  std::ifstream file(fmt::format("{}/fdinfo/{}", folder, epoll));
  std::vector<int> descriptors;
  for (std::string line; std::getline(file, line);) {
    int descriptor = -1;
    if (std::sscanf(line.c_str(), "tfd: %d", &descriptor) == 1) descriptors.push_back(descriptor);
  }
  return descriptors;
}

// A thread that has ended is in no call and has no stack.
bool has_ended(const std::string& line) { return line.starts_with("-1 0x0 0x0"); }

// In a page fault, and not in a call: its control group has no memory for it.
bool waits_for_memory(const std::string& folder, const std::string& line) {
  return line.starts_with("-1 ") &&
         text_in_file(folder + "/wchan").find("mem_cgroup") != std::string::npos;
}

BlockedOn blocked_in_folder(const std::string& folder, const std::string& line) {
  if (waits_for_memory(folder, line)) return BlockedOn::kMemory;
  return blocked_in(
      line,
      {.target =
           [&](int descriptor) {
             std::error_code error;
             const auto path = fmt::format("{}/fd/{}", folder, descriptor);
             return std::filesystem::read_symlink(path, error).string();
           },
       .selected = [&](uint64_t count, uint64_t at) { return selected_by(folder, count, at); },
       .polled = [&](uint64_t at, uint64_t count) { return polled_by(folder, at, count); },
       .in_set = [&](int epoll) { return in_set_of(folder, epoll); }});
}

}  // namespace

BlockedOn blocked_in(const std::string& line, const Descriptors& descriptors) {
  long number = 0;
  uint64_t first = 0;
  uint64_t second = 0;
  if (std::sscanf(line.c_str(), "%ld %" SCNx64 " %" SCNx64, &number, &first, &second) != 3) {
    return BlockedOn::kUnknown;
  }
  switch (waits_for_several(number)) {
    case Several::kSelect:
      return first == 0 ? BlockedOn::kTime
                        : by_targets(descriptors.selected(first, second), descriptors);
    case Several::kPoll:
      return second == 0 ? BlockedOn::kTime
                         : by_targets(descriptors.polled(first, second), descriptors);
    case Several::kEpoll:
      return by_targets(descriptors.in_set(static_cast<int>(first)), descriptors);
    case Several::kNo: break;
  }
  if (number == SYS_fcntl) {
    const bool waits = second == F_SETLKW || second == F_OFD_SETLKW;
    return waits ? BlockedOn::kLock : BlockedOn::kUnknown;
  }
  for (const auto& [call, blocked] : kCalls) {
    if (call != number) continue;
    if (blocked != kByDescriptor) return blocked;
    return by_target(descriptors.target(static_cast<int>(first)));
  }
  return BlockedOn::kUnknown;
}

BlockedOn blocked_on(int pid) {
  const std::string folder = fmt::format("/proc/{}", pid);
  const std::string line = text_in_file(folder + "/syscall");
  if (!has_ended(line)) return blocked_in_folder(folder, line);
  for (const int thread : numbers_in(folder + "/task")) {
    const std::string its = fmt::format("{}/task/{}", folder, thread);
    const std::string call = text_in_file(its + "/syscall");
    const bool own = text_in_file(its + "/comm").starts_with(kOwnThreads);
    if (!own && !has_ended(call)) return blocked_in_folder(its, call);
  }
  return BlockedOn::kUnknown;
}

std::string_view to_string(BlockedOn blocked) {
  switch (blocked) {
    case BlockedOn::kTime: return "sleeps for a time";
    case BlockedOn::kLock: return "waits for a lock or another thread";
    case BlockedOn::kFile: return "waits for a file or a pipe";
    case BlockedOn::kSocket: return "waits for a socket";
    case BlockedOn::kChild: return "waits for a child process";
    case BlockedOn::kSignal: return "waits for a signal";
    case BlockedOn::kMemory: return "waits for memory: its control group has none left";
    case BlockedOn::kUnknown: break;
  }
  return "";
}

}  // namespace tutti
