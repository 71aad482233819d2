// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Whether this process is a copy, made by fork(), of one that had communicators then. It has their
// memory, but none of their threads, and may touch nothing that it shares with them.
#pragma once

#include "core/status.hpp"

namespace tutti {

namespace fork_detail {
inline constinit bool forked = false;
}

inline bool is_forked() { return fork_detail::forked; }
// The error of calls on that: it names both processes.
Status refuse_forked();

// Lives as long as there is something that a child must not touch.
class OwnedByProcess {
 public:
  OwnedByProcess();
  ~OwnedByProcess();
  OwnedByProcess(const OwnedByProcess&) = delete;
  OwnedByProcess& operator=(const OwnedByProcess&) = delete;
};

}  // namespace tutti
