// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What tests ask of the driver, found by dlsym() in the library that the loader has opened, and
// what is told when the process exits.
#include <cstdio>

#include "support/level_zero/entry.hpp"
#include "support/level_zero/switches.hpp"

namespace ze = tutti_test::ze;

#define TUTTI_ZE_EXPORT extern "C" __attribute__((visibility("default")))

// How often the function was called; all functions for null.
TUTTI_ZE_EXPORT long tutti_test_ze_calls(const char* function) {
  return function ? ze::calls_of(function) : ze::calls_of_all();
}

// How many objects of a kind live ("event", "memory", ...); all for null.
TUTTI_ZE_EXPORT int tutti_test_ze_live(const char* kind) { return ze::live_objects(kind); }

// How often the driver found something wrong that no call reports.
TUTTI_ZE_EXPORT int tutti_test_ze_complaints() { return ze::complaints(); }

// The device is lost after so many calls from now.
TUTTI_ZE_EXPORT void tutti_test_ze_lose(long calls) { ze::lose_device_after(calls); }

// The call of the function after so many from now fails for want of memory; no other does.
TUTTI_ZE_EXPORT void tutti_test_ze_fail(const char* function, long calls) {
  ze::fail_call_after(function, calls);
}

namespace {

__attribute__((destructor)) void tell() {
  if (ze::switches().leaks) {
    std::fprintf(stderr, "level zero test driver: still there at exit:\n%s",
                 ze::list_live_objects().c_str());
  }
  if (ze::switches().calls) {
    std::fprintf(stderr, "level zero test driver: calls:\n%s", ze::list_calls().c_str());
  }
}

}  // namespace
