// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The settings of an executor, and the probes that name its communicator by them.
#pragma once

#if __has_include(<sys/sdt.h>)
#define SDT_USE_VARIADIC
#include <sys/sdt.h>
#endif

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

// Probes for bpftrace, perf and SystemTap: a nop each, and a note of the file that says where it is
// and where its arguments are. There are none without systemtap-sdt-dev's header. What they tell:
// docs/watch.md. The arguments begin with the communicator and the rank of the executor's settings.
// All are integers and pointers, best those that lie in memory or a register anyway.
#if __has_include(<sys/sdt.h>)
#define TUTTI_PROBE(name, settings, ...)                                                         \
  STAP_PROBEV(tutti, name, (settings).wait_report.communicator.c_str(), (settings).context.rank, \
              __VA_ARGS__)
#else
#define TUTTI_PROBE(name, ...) static_cast<void>(0)
#endif
