// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Descriptors of peer processes (pidfds), of which this process keeps one for each peer process,
// however many communicators it shares with it.
#pragma once

#include <memory>

#include "core/fd.hpp"

namespace tutti {

// Closes itself with the last that holds it; none if it is null.
using SharedPidfd = std::shared_ptr<const Fd>;

// The one that this process keeps of a process already, or `pidfd`, which it keeps from now on.
// `pid`: of that process as seen from here; 0 if it cannot be seen, and then nothing is shared. Any
// thread.
SharedPidfd share_pidfd(Fd pidfd, int pid);

}  // namespace tutti
