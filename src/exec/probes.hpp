// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Probes for bpftrace, perf and SystemTap: a nop each, and a note of the file that says where it is
// and where its arguments are. There are none without systemtap-sdt-dev's header. What they tell:
// docs/watch.md.
#pragma once

#if __has_include(<sys/sdt.h>)
#define SDT_USE_VARIADIC
#include <sys/sdt.h>
// The arguments begin with the communicator and the rank of the executor's settings. All are
// integers and pointers, best those that lie in memory or a register anyway.
#define TUTTI_PROBE(name, settings, ...)                                                         \
  STAP_PROBEV(tutti, name, (settings).wait_report.communicator.c_str(), (settings).context.rank, \
              __VA_ARGS__)
#else
#define TUTTI_PROBE(name, ...) static_cast<void>(0)
#endif
