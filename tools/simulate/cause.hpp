// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tutti::simulate {

// The rank that did the longest part without a wait in the chain of work that led to a moment, and
// how long that took. If a rank waits for one that waits for a straggler, the cause of its wait is
// the straggler.
struct Cause {
  int rank = -1;
  double seconds = 0;
};

}  // namespace tutti::simulate
