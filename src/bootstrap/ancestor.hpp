// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The process that launched the job, for launchers that give the job no name.
#pragma once

#include <string>

namespace tutti {

// Names the nearest ancestor of this process that was itself started without `variable`: that is
// who set it, however many shells and wrappers stand between. Its pid and start time: no other
// process ever has both. The ranks of one host get the same text.
std::string launching_process(const std::string& variable);

}  // namespace tutti
