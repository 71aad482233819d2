// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/wait.hpp"
#include "exec/journal.hpp"
#include "exec/plan.hpp"
#include "exec/wait_reporter.hpp"

namespace tutti {

struct ExecutorSettings {
  PlanContext context;       // but the number of lanes and the choice, which the constructor takes
  bool polls = false;        // see Waiter
  Journal::Tell tell;        // sends a message to any rank, if ranks are on several hosts
  SpinBudget caller_budget;  // of a thread inside a call
  SpinBudget worker_budget;  // of a worker, which may share its core with the application
  WaitReportSettings wait_report = {};
};

}  // namespace tutti
