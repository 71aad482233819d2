// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/shared_pidfd.hpp"

#include <poll.h>

#include <map>
#include <mutex>

namespace tutti {
namespace {

struct Kept {
  std::mutex mutex;
  std::map<int, std::weak_ptr<const Fd>> by_pid;
};

bool has_ended(const Fd& pidfd) {
  pollfd entry{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  return poll(&entry, 1, 0) != 0;
}

}  // namespace

SharedPidfd share_pidfd(Fd pidfd, int pid) {
  static Kept& kept = *new Kept;  // outlives threads that still run at exit
  if (!pidfd.open()) return nullptr;
  SharedPidfd fresh = std::make_shared<const Fd>(std::move(pidfd));
  // The number of a process that has ended may be another one's by now.
  if (pid <= 0 || has_ended(*fresh)) return fresh;
  const std::lock_guard lock(kept.mutex);
  std::erase_if(kept.by_pid, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const Fd>& known = kept.by_pid[pid];
  if (SharedPidfd shared = known.lock(); shared != nullptr && !has_ended(*shared)) return shared;
  known = fresh;
  return fresh;
}

}  // namespace tutti
