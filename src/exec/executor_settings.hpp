// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/wait.hpp"
#include "exec/journal.hpp"
#include "exec/plan.hpp"
#include "exec/wait_reporter.hpp"

namespace tutti {

struct ExecutorSettings {
  // Inputs of plans; the constructor takes the number of lanes and the choice.
  PlanContext context;
  bool polls = false;        // see Waiter
  Journal::Tell tell;        // sends a message to any rank, if ranks are on several hosts
  SpinBudget caller_budget;  // spins of a thread inside a call
  SpinBudget worker_budget;  // spins of a worker, which may share its core with the application
  WaitReportSettings wait_report = {};
};

}  // namespace tutti
