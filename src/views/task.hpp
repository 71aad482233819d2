// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Functions that wait without blocking a thread, as coroutines: whoever polls such a task runs it
// as far as it comes. A task that fails stops where it is and keeps its scopes. So what it has
// under way stays in place until it is at rest (views/activity.hpp), and then the scopes end.
//
// GCC 12 destroys temporaries of a co_await too often or too late in some expressions, and copies
// what some expressions refer to. So what is awaited here is a variable, or trivially destructible,
// and cannot be copied.
#pragma once

// GCC takes the frame of a coroutine for a type of a header where the sources of a folder are
// compiled as one.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

#include <coroutine>
#include <type_traits>
#include <utility>

#include "core/caught.hpp"
#include "core/status.hpp"

namespace tutti {

// Peers end by themselves: the host's calls have deadlines. A device does not.
enum class Waits : uint8_t { kForDevice, kForPeers };

class Awaited;

class [[nodiscard]] Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  Task() = default;
  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  // Ends its scopes.
  ~Task() {
    if (handle_) handle_.destroy();
  }

  // Runs it up to what it awaits first.
  Status begin();
  // Runs it on; whether it has come to its end. After an error it does not go on.
  Result<bool> poll();
  [[nodiscard]] bool over() const { return handle_ && handle_.done(); }
  [[nodiscard]] Waits waits() const;

 private:
  Handle handle_;  // null: there was no memory for it
};

// An event that a task waits for.
class Awaited {
 public:
  Awaited() = default;
  Awaited(const Awaited&) = delete;
  Awaited& operator=(const Awaited&) = delete;

  // Whether it is there; an error fails the task.
  virtual Result<bool> ready() = 0;
  [[nodiscard]] virtual Waits waits() const = 0;

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(Task::Handle task) noexcept;
  void await_resume() const noexcept {}

 protected:
  ~Awaited() = default;
};

struct Task::promise_type {
  Awaited* awaited = nullptr;
  Status failure;

  Task get_return_object() { return Task(Handle::from_promise(*this)); }
  static Task get_return_object_on_allocation_failure() { return {}; }
  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
  [[nodiscard]] std::suspend_always final_suspend() const noexcept { return {}; }
  void return_void() const noexcept {}
  void unhandled_exception() noexcept { failure = caught_exception(); }
};

inline void Awaited::await_suspend(Task::Handle task) noexcept { task.promise().awaited = this; }

inline Status Task::begin() {
  if (!handle_) return out_of_memory();
  handle_.resume();
  return handle_.promise().failure;
}

inline Result<bool> Task::poll() {
  if (!handle_) return out_of_memory();
  promise_type& promise = handle_.promise();
  try {
    while (promise.failure.ok() && !handle_.done()) {
      if (promise.awaited != nullptr) {
        const Result<bool> ready = promise.awaited->ready();
        promise.failure = ready.status();
        if (!ready.ok()) break;
        if (!*ready) return false;
        promise.awaited = nullptr;
      }
      handle_.resume();
    }
  } catch (...) {
    promise.failure = caught_exception();
  }
  if (!promise.failure.ok()) return promise.failure;
  return true;
}

inline Waits Task::waits() const {
  const Awaited* const awaited = handle_ ? handle_.promise().awaited : nullptr;
  return awaited == nullptr ? Waits::kForPeers : awaited->waits();
}

// The end of another task.
class TaskEnd final : public Awaited {
 public:
  explicit TaskEnd(Task& task) : task_(task) {}
  Result<bool> ready() override { return task_.poll(); }
  [[nodiscard]] Waits waits() const override { return task_.waits(); }

 private:
  Task& task_;
};
inline TaskEnd operator co_await(Task& task) { return TaskEnd(task); }

// The moment from which `ready` is true.
template <typename Ready>
class Until final : public Awaited {
  static_assert(std::is_trivially_destructible_v<Ready>);

 public:
  Until(Waits waits, Ready ready) : waits_(waits), ready_(ready) {}
  Result<bool> ready() override { return ready_(); }
  [[nodiscard]] Waits waits() const override { return waits_; }

 private:
  const Waits waits_;
  Ready ready_;
};

// The end of the task that awaits it.
class Failure final {
 public:
  explicit Failure(const Status& status) : status_(status) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(Task::Handle task) const noexcept { task.promise().failure = status_; }
  void await_resume() const noexcept {}

 private:
  const Status& status_;
};

}  // namespace tutti

// Fails the task that this is in, if `expression` gives an error.
#define TUTTI_OR_FAIL(expression)                                              \
  do {                                                                         \
    if (const ::tutti::Status status_here = (expression); !status_here.ok()) { \
      co_await ::tutti::Failure(status_here);                                  \
    }                                                                          \
  } while (false)
