// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Probes for bpftrace, perf and SystemTap: a nop each, and a note of the file that says where it is
// and where its arguments are. There are none without systemtap-sdt-dev's header. What they tell:
// docs/watch.md.
#pragma once

#if __has_include(<sys/sdt.h>)
#define SDT_USE_VARIADIC
#include <sys/sdt.h>
// Arguments are integers and pointers, best those that lie in memory or a register anyway.
#define TUTTI_PROBE(name, ...) STAP_PROBEV(tutti, name, __VA_ARGS__)
#else
#define TUTTI_PROBE(name, ...) static_cast<void>(0)
#endif
