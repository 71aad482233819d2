// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What every call of the test driver goes through: it is counted, its handles are checked, the
// device may be lost, and no exception leaves it.
#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <new>
#include <type_traits>

#include "support/level_zero/object.hpp"

namespace tutti_test::ze {

struct Counter {
  const char* name = nullptr;
  std::atomic<long> calls{0};
  std::atomic<long> fails{-1};  // which call does, by that number
};

// From now on listed under its name.
void list_counter(Counter& counter, const char* name);
long calls_of_all();
long calls_of(const char* name);
std::string list_calls();

// The device is lost after so many calls more.
void lose_device_after(long calls);
// The call of the function after so many more fails for want of memory; no other does.
void fail_call_after(const char* name, long calls);

// Counts the call; an error where the device is lost, or the call is to fail.
ze_result_t begin_call(Counter& counter);
ze_result_t refused(const Counter& counter, const Refusal& refusal);

template <typename Argument>
bool is_stale(Argument argument) {
  if constexpr (std::is_pointer_v<Argument>) {
    if constexpr (std::is_base_of_v<Object, std::remove_pointer_t<Argument>>) {
      return argument != nullptr && !is_live(argument);
    }
  }
  return false;
}

template <typename First, typename... Others>
void check_handles(First first, Others... others) {
  if constexpr (std::is_pointer_v<First>) {
    if constexpr (std::is_base_of_v<Object, std::remove_pointer_t<First>>) {
      require(first != nullptr, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "the handle is null");
    }
  }
  require(!is_stale(first) && !(is_stale(others) || ...), ZE_RESULT_ERROR_INVALID_ARGUMENT,
          "a handle is of nothing that lives");
}

template <auto function>
struct Entry;

template <typename... Arguments, ze_result_t (*function)(Arguments...)>
struct Entry<function> {
  static inline Counter counter;
  static ze_result_t ZE_APICALL call(Arguments... arguments) {
    if (const ze_result_t lost = begin_call(counter)) return lost;
    try {
      check_handles(arguments...);
      return function(arguments...);
    } catch (const Refusal& refusal) {
      return refused(counter, refusal);
    } catch (const std::bad_alloc&) {
      return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    } catch (...) {
      return ZE_RESULT_ERROR_UNKNOWN;
    }
  }
};

// The function as the driver's tables have it.
template <auto function>
auto entry(const char* name) {
  list_counter(Entry<function>::counter, name);
  return &Entry<function>::call;
}

}  // namespace tutti_test::ze
