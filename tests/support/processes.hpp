// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Tests in several real processes. The test forks them, each runs the same body, and what fails in
// one of them fails the test. The test program itself must stay free of threads: a fork copies only
// the thread that calls it, so nothing that starts one (making a communicator or a unique id) may
// happen outside a body.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace tutti_test {

struct Processes {
  int count = 1;
  // Ends hangs and nothing else: a test that needs this long is a failure that names who was still
  // running. Not a bound on how fast anything should be.
  std::chrono::seconds limit{240};
  // Those which are to end by SIGKILL; any other end of theirs is a failure.
  std::vector<int> killed;
};

// Runs body(index) in `count` forked processes and returns when all have ended. A failed EXPECT or
// ASSERT, an exception, a crash or a hang in one of them is a failure here, with its index; a
// GTEST_SKIP in one of them skips the test.
void run_processes(const Processes& processes, const std::function<void(int)>& body);

// This process's place, where a launcher has started all processes of the test program (which says
// so by TUTTI_TEST_LAUNCHED, a text that no other job on this host has): run_processes() then forks
// nobody; the first `count` of them run the body, and tests in which processes are killed are
// skipped.
struct Launched {
  int rank;
  int size;
  std::string job;
};
const std::optional<Launched>& launched();

// Ends this process at once, as the kernel's out-of-memory killer would.
[[noreturn]] void kill_myself();

// A T that all processes of a test share: make it before run_processes. Zeroed.
template <typename T>
class Shared {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  Shared()
      : memory_(
            mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    new (memory_) T{};
  }
  ~Shared() { munmap(memory_, sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T& operator*() const { return *static_cast<T*>(memory_); }
  T* operator->() const { return static_cast<T*>(memory_); }

 private:
  void* memory_;
};

// Where all processes of a test meet without the library: a rank that breaks a communicator on
// purpose would otherwise break it under one that is still in the call before. Make it before
// run_processes, one for each time they meet.
class Meeting {
 public:
  explicit Meeting(int count) : count_(count) {}
  void wait() const;

 private:
  int count_;
  Shared<std::atomic<int>> arrived_;
};

// Sanitizers slow everything down; tests that are about size, not about races, do less under them.
#if defined(TUTTI_SANITIZED)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace tutti_test
