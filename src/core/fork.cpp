// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/fork.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace tutti {
namespace {

constinit std::atomic<int> owned{0};
constinit std::atomic<pid_t> owner{0};

void in_child() {
  if (owned.load() > 0) fork_detail::forked = true;
}

}  // namespace

OwnedByProcess::OwnedByProcess() {
  static const int registered = pthread_atfork(nullptr, nullptr, in_child);
  (void)registered;  // without memory for it, a child is not told
  owner.store(getpid());
  owned.fetch_add(1);
}

OwnedByProcess::~OwnedByProcess() { owned.fetch_sub(1); }

Status refuse_forked() {
  return Status::format(
      Code::kInvalidUsage,
      "this is process {}, forked from process {}, whose communicators and requests it cannot use: "
      "their threads are not here. Make communicators after fork, or exec; here they can only be "
      "destroyed",
      getpid(), owner.load());
}

}  // namespace tutti
