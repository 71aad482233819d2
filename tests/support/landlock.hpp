// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A process in a Landlock domain of its own, which keeps it from the sockets of all others.
#pragma once

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace tutti_test {

// Of the kernel's landlock.h, since Linux 6.12; headers may be older.
struct LandlockRules {
  uint64_t handled_files = 0;
  uint64_t handled_network = 0;
  uint64_t scoped = 0;
};
inline constexpr uint64_t kScopeAbstractSockets = 1;
inline constexpr uint64_t kScopeSignals = 2;
inline constexpr int kScopesSince = 6;  // version of the interface

inline bool has_landlock_scopes() {
  constexpr unsigned kAskVersion = 1;
  return syscall(SYS_landlock_create_ruleset, nullptr, size_t{0}, kAskVersion) >= kScopesSince;
}

// This thread and what it starts, for good.
inline bool enter_landlock_domain() {
  const LandlockRules rules{.scoped = kScopeAbstractSockets | kScopeSignals};
  const auto ruleset =
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0U));
  if (ruleset < 0) return false;
  const bool entered = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                       syscall(SYS_landlock_restrict_self, ruleset, 0U) == 0;
  close(ruleset);
  return entered;
}

}  // namespace tutti_test
