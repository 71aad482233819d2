// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/shared_pidfd.hpp"

#include <poll.h>

#include <algorithm>
#include <map>
#include <mutex>

namespace tutti {
namespace {

struct Kept {
  std::mutex mutex;
  std::map<int, std::weak_ptr<const Fd>> by_pid;
  size_t most = 64;  // more are looked through for those that nobody holds
};

// Whether processes with one number are one: the number of a process that has ended may be another
// one's by now.
bool both_run(const Fd& known, const Fd& fresh) {
  pollfd both[] = {{.fd = known.get(), .events = POLLIN, .revents = 0},
                   {.fd = fresh.get(), .events = POLLIN, .revents = 0}};
  return poll(both, 2, 0) == 0;
}

}  // namespace

SharedPidfd share_pidfd(Fd pidfd, int pid) {
  static Kept& kept = *new Kept;  // outlives threads that still run at exit
  if (!pidfd.open()) return nullptr;
  SharedPidfd fresh = std::make_shared<const Fd>(std::move(pidfd));
  if (pid <= 0) return fresh;
  const std::lock_guard lock(kept.mutex);
  if (kept.by_pid.size() >= kept.most) {
    std::erase_if(kept.by_pid, [](const auto& entry) { return entry.second.expired(); });
    kept.most = std::max<size_t>(64, 2 * kept.by_pid.size());
  }
  std::weak_ptr<const Fd>& known = kept.by_pid[pid];
  if (SharedPidfd shared = known.lock(); shared != nullptr && both_run(*shared, *fresh)) {
    return shared;
  }
  known = fresh;
  return fresh;
}

}  // namespace tutti
