// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Operations under way, and groups of them.
#pragma once

#include <tutti/cpp/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tutti {
inline namespace api {

// An operation that was started, or, if it is persistent, that can be started again and again.
//
// Ownership: frees its handle at its end, which waits for the operation first and must come before
// the end of its communicator. Can be moved; the object that it was moved from is empty. The
// buffers of the call stay the caller's, who leaves them alone until the operation is complete.
// Threads: wait(), test() and wait_for() may be called from any thread; start() is a call on the
// communicator, so it comes from that one's thread.
// Errors: by Policy, as of BasicCommunicator. An operation that failed tells it in wait() or
// test().
template <typename Policy>
class BasicRequest {
 public:
  BasicRequest() = default;
  explicit BasicRequest(tutti_request_t handle) : handle_(handle) {}
  BasicRequest(BasicRequest&& other) noexcept : handle_(other.release()) {}
  BasicRequest& operator=(BasicRequest&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~BasicRequest() {
    if (handle_ != nullptr) tutti_request_free(handle_);
  }

  // Waits until it is complete.
  auto wait() { return Policy::give(tutti_request_wait(handle_)); }
  // Whether it is complete.
  auto test() {
    int done = 0;
    const tutti_status status = tutti_request_test(handle_, &done);
    return Policy::give(status, done != 0);
  }
  // Whether it is complete after this time at most; it goes on if not.
  auto wait_for(std::chrono::milliseconds time) {
    const auto most = std::clamp<int64_t>(time.count(), 0, INT32_MAX);
    tutti_status status = tutti_request_wait_for(handle_, static_cast<int>(most));
    int done = 1;
    if (status == TUTTI_ERR_TIMEOUT) status = tutti_request_test(handle_, &done);
    return Policy::give(status, done != 0);
  }
  // Starts a persistent operation, which must not be active.
  auto start() { return Policy::give(tutti_request_start(handle_)); }
  // The message that a completed receive got.
  auto recv_info() {
    tutti_recv_info info{};
    const tutti_status status = tutti_request_recv_info(handle_, &info);
    return Policy::give(status, info);
  }
  // See tutti_request_on_complete.
  auto on_complete(tutti_completion_fn function, void* context) {
    return Policy::give(tutti_request_on_complete(handle_, function, context));
  }

  [[nodiscard]] tutti_request_t handle() const { return handle_; }
  // Gives the handle up to the caller, who frees it.
  tutti_request_t release() { return std::exchange(handle_, nullptr); }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  tutti_request_t handle_ = nullptr;
};

// A group: from its making to end() the calls of this thread are recorded, see tutti_group_start;
// then all begin together.
//
// Ownership: neither copied nor moved. An object that ends before end() ends the group, too, and
// says nothing of errors.
// Threads: of the thread that made it.
// Errors: by Policy, from end().
template <typename Policy>
class BasicGroup {
 public:
  BasicGroup() : started_(tutti_group_start()) {}
  BasicGroup(const BasicGroup&) = delete;
  BasicGroup& operator=(const BasicGroup&) = delete;
  ~BasicGroup() {
    if (open_ && started_.ok()) tutti_group_end();
  }

  // Begins everything, and waits for what blocks.
  auto end() {
    const bool open = std::exchange(open_, false);
    return Policy::give(open && started_.ok() ? Status(tutti_group_end()) : started_);
  }

 private:
  Status started_;
  bool open_ = true;
};

// A request whose errors are exceptions.
using Request = BasicRequest<Throw>;
// A group whose errors are exceptions.
using Group = BasicGroup<Throw>;

}  // namespace api
}  // namespace tutti
