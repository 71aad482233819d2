// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "support/level_zero/entry.hpp"

#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "support/level_zero/switches.hpp"

namespace tutti_test::ze {

namespace {

struct Counters {
  std::mutex mutex;
  std::vector<Counter*> all;
  std::atomic<long> sum{0};
  std::atomic<long> lost_from{switches().lost_after};  // the device is; negative: never
};

Counters& counters() {
  static auto* const listed = new Counters;
  return *listed;
}

}  // namespace

void list_counter(Counter& counter, const char* name) {
  const std::lock_guard lock(counters().mutex);
  if (!counter.name) counters().all.push_back(&counter);
  counter.name = name;
}

void lose_device_after(long calls) { counters().lost_from = counters().sum + calls; }

void fail_call_after(const char* name, long calls) {
  const std::lock_guard lock(counters().mutex);
  for (Counter* counter : counters().all) {
    if (std::strcmp(counter->name, name) == 0) counter->fails = counter->calls + calls;
  }
}

long calls_of_all() { return counters().sum; }

long calls_of(const char* name) {
  const std::lock_guard lock(counters().mutex);
  for (const Counter* counter : counters().all) {
    if (std::strcmp(counter->name, name) == 0) return counter->calls;
  }
  return 0;
}

std::string list_calls() {
  const std::lock_guard lock(counters().mutex);
  std::string lines;
  for (const Counter* counter : counters().all) {
    if (const long calls = counter->calls) {
      lines += std::string(counter->name) + " " + std::to_string(calls) + "\n";
    }
  }
  return lines;
}

ze_result_t begin_call(Counter& counter) {
  const bool fails = counter.calls++ == counter.fails;
  const long before = counters().sum++;
  const long lost_from = counters().lost_from;
  const bool lost = lost_from >= 0 && before >= lost_from;
  if (lost) return ZE_RESULT_ERROR_DEVICE_LOST;
  return fails ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_SUCCESS;
}

ze_result_t refused(const Counter& counter, const Refusal& refusal) {
  if (switches().verbose) {
    std::fprintf(stderr, "level zero test driver: %s: %s (0x%x)\n", counter.name,
                 refusal.why.c_str(), refusal.code);
  }
  return refusal.code;
}

}  // namespace tutti_test::ze
