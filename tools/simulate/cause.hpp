// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tutti::simulate {

// Of what had to happen before a moment, one thing after the other over all ranks: who did the
// longest part of it without a wait, and how long that took. If a rank waits for one that waits for
// a straggler, the cause of its wait is the straggler.
struct Cause {
  int rank = -1;
  double seconds = 0;
};

}  // namespace tutti::simulate
