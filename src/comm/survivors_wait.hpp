// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The notes of a rank that shrinks its communicator while others neither come nor end
// (exec/wait_reporter.hpp).
#pragma once

#include <cstdint>
#include <functional>

#include "comm/regroup.hpp"
#include "exec/wait_reporter.hpp"

namespace tutti {

// agree_on_survivors(), which is reported if it is long. `is_gone` says whether a rank has died or
// left.
Result<Survivors> find_survivors(Regroup& regroup, const WaitReportSettings& settings,
                                 const std::function<bool(int)>& is_gone, int64_t deadline_ms);

}  // namespace tutti
