// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Handles of communicators and of operations in progress, and how errors become exceptions.
#pragma once

#include <oneapi/ccl/detail/functions.h>
#include <atomic>
#include <oneapi/ccl/attributes.hpp>

namespace ccl {
namespace detail {

// The functions of the library that libccl is linked with.
inline const tutti_oneccl_functions& library() {
  static const tutti_oneccl_functions& functions = *onecclTuttiFunctions();
  return functions;
}

// Throws the exception for a call that failed.
inline void check(tutti_status status, const char* function, const char* error) {
  if (status == TUTTI_OK) return;
  const string text = string(library().status_name(status)) + ": " + string(error);
  switch (status) {
    case TUTTI_ERR_INVALID_ARGUMENT: throw invalid_argument("", function, text);
    case TUTTI_ERR_OUT_OF_MEMORY: throw host_bad_alloc("", function);
    case TUTTI_ERR_UNSUPPORTED: throw unsupported("", function, text);
    default: throw exception("", function, text);
  }
}
// Its text is that of this thread's last failure.
inline void check(tutti_status status, const char* function) {
  if (status != TUTTI_OK) check(status, function, library().last_error());
}

// How many groups this thread is in.
inline int& group_depth() {
  static thread_local int depth = 0;
  return depth;
}

// Owns the handle of a communicator, for all copies and events that refer to it.
struct comm_state {
  tutti_comm_t handle = nullptr;
  int rank = 0;
  int size = 0;

  comm_state() = default;
  comm_state(const comm_state&) = delete;
  comm_state& operator=(const comm_state&) = delete;
  ~comm_state() {
    library().oneccl_matcher_destroy(matcher_);
    library().comm_destroy(handle);
  }
  // The matcher of the calls that have a match_id.
  tutti_oneccl_matcher* matcher() {
    if (matcher_ == nullptr) matcher_ = library().oneccl_matcher_create(handle);
    if (matcher_ == nullptr) throw host_bad_alloc("", "match_id");
    return matcher_;
  }

 private:
  tutti_oneccl_matcher* matcher_ = nullptr;
};

// How an operation begins: as a non-blocking function of the library.
using begin_fn = std::function<tutti_status(tutti_comm_t, tutti_request_t*)>;

// The objects that a running operation needs until it is complete.
class operation_state {
 public:
  std::vector<std::vector<char>> staging;
  std::function<void()> after_success;

  explicit operation_state(std::shared_ptr<comm_state> comm) : comm_(std::move(comm)) {}
  operation_state(const operation_state&) = delete;
  operation_state& operator=(const operation_state&) = delete;
  ~operation_state() {
    if (request_ != nullptr || call_ != nullptr) wait();
  }

  // Begins it in the program's order.
  template <class Begin>
  void begin(const Begin& begin, const char* function) {
    check(begin(comm_->handle, &request_), function);
  }
  // Begins it when all ranks have called an operation with this match_id; in a group, from its end
  // on.
  void begin_matched(string match_id, begin_fn begin, const char* function) {
    match_id_ = std::move(match_id);
    begin_ = std::move(begin);
    matched_ = true;
    if (group_depth() == 0) match(function);
  }
  void record() { recorded_ = true; }
  void group_ended() {
    recorded_ = false;
    if (matched_) match("group_end");
  }

  bool pending() const { return request_ != nullptr || call_ != nullptr || recorded_; }
  bool recorded() const { return recorded_; }
  // The text of the last error in this thread, if it is of this operation.
  const char* error() const {
    return matched_ ? library().oneccl_match_error() : library().last_error();
  }
  tutti_status wait() {
    return finish(matched_ ? library().oneccl_match_wait(call_, group_depth())
                           : library().request_wait(request_));
  }
  // Whether it is complete, and then with which status.
  bool test(tutti_status* status) {
    int done = 0;
    *status = matched_ ? library().oneccl_match_test(call_, group_depth(), &done)
                       : library().request_test(request_, &done);
    if (done != 0) *status = finish(*status);
    return done != 0;
  }

 private:
  void match(const char* function) {
    const auto begin = [](void* self, tutti_comm_t comm, tutti_request_t* request) {
      return static_cast<operation_state*>(self)->begin_(comm, request);
    };
    const tutti_status status =
        library().oneccl_match(comm_->matcher(), match_id_.c_str(), begin, this, &call_);
    if (status != TUTTI_OK) check(status, function, error());
  }
  tutti_status finish(tutti_status status) {
    library().request_free(request_);
    library().oneccl_match_free(call_);
    request_ = nullptr;
    call_ = nullptr;
    if (status == TUTTI_OK && after_success) after_success();
    return status;
  }

  const std::shared_ptr<comm_state> comm_;
  tutti_request_t request_ = nullptr;
  std::atomic<bool> recorded_{false};  // in a group that has not ended
  bool matched_ = false;
  string match_id_;
  begin_fn begin_;
  tutti_oneccl_call* call_ = nullptr;
};

// The value of an attribute of host memory's device, context or stream.
template <class Value>
Value of_host() {
  return Value();
}
template <>
inline library_version of_host<library_version>() {
  return get_library_version();
}

using operation_states = std::vector<std::shared_ptr<operation_state>>;

// The operations that this thread's group has recorded. They need their state until they are
// complete, even if the program has not kept their events.
inline operation_states& recorded_operations() {
  static thread_local operation_states all;
  return all;
}
inline void keep_until_group_ends(const std::shared_ptr<operation_state>& state) {
  state->record();
  recorded_operations().push_back(state);
}
inline operation_states take_recorded() {
  operation_states ended;
  ended.swap(recorded_operations());
  return ended;
}

}  // namespace detail

namespace v1 {

// An operation that was started.
//
// Ownership: can be moved, not copied. It keeps its communicator alive; the buffers stay the
// caller's. Destroyed before the operation is complete, it waits for it, and tells no error. If it
// is destroyed in a group, group_end() waits, and throws if its operation failed. Threads: wait()
// and test() from one thread at a time, which may be any. Errors: wait() and test() throw
// ccl::exception once if the operation failed; after that, and for an event without an operation,
// they return at once.
class event {
 public:
  event() noexcept = default;
  event(event&&) noexcept = default;
  event& operator=(event&&) noexcept = default;
  explicit event(std::shared_ptr<detail::operation_state> state) noexcept
      : state_(std::move(state)) {}

  // Waits for completion; throws if the operation failed, once.
  void wait() const {
    if (!pending()) return;
    if (state_->recorded()) {
      throw exception("", "event::wait", "the operation begins when its group ends: group_end()");
    }
    const tutti_status status = state_->wait();
    if (status != TUTTI_OK) detail::check(status, "event::wait", state_->error());
  }
  // Whether it is complete; throws if it failed, once.
  bool test() const {
    if (!pending()) return true;
    tutti_status status = TUTTI_OK;
    if (state_->recorded() || !state_->test(&status)) return false;
    if (status != TUTTI_OK) detail::check(status, "event::test", state_->error());
    return true;
  }
  // Operations cannot be taken back.
  bool cancel() const { return false; }
  explicit operator bool() const { return test(); }
  empty_t get_native() const { return {}; }
  bool operator==(const event& other) const noexcept { return state_ == other.state_; }
  bool operator!=(const event& other) const noexcept { return !(*this == other); }

 private:
  bool pending() const { return state_ != nullptr && state_->pending(); }
  std::shared_ptr<detail::operation_state> state_;
};

// ---- host memory has no devices ----------------------------------------------------------------

// The device of host memory, of which there is one. Has no state, as context and stream have none.
class device {
 public:
  empty_t get_native() const { return {}; }
  template <device_attr_id id>
  detail::attribute_t<device_attr_id, id> get() const {
    return detail::of_host<detail::attribute_t<device_attr_id, id>>();
  }
  friend bool operator==(const device&, const device&) { return true; }
  friend bool operator!=(const device&, const device&) { return false; }
  friend bool operator<(const device&, const device&) { return false; }
};
// The context of host memory, of which there is one.
class context {
 public:
  empty_t get_native() const { return {}; }
  template <context_attr_id id>
  detail::attribute_t<context_attr_id, id> get() const {
    return detail::of_host<detail::attribute_t<context_attr_id, id>>();
  }
  friend bool operator==(const context&, const context&) { return true; }
  friend bool operator!=(const context&, const context&) { return false; }
  friend bool operator<(const context&, const context&) { return false; }
};
// The stream of host memory. Operations do not wait for one another's streams.
class stream {
 public:
  empty_t get_native() const { return {}; }
  template <stream_attr_id id>
  detail::attribute_t<stream_attr_id, id> get() const {
    return detail::of_host<detail::attribute_t<stream_attr_id, id>>();
  }
};
static const stream default_stream{};

inline device create_device(empty_t = {}) { return {}; }
inline context create_context(empty_t = {}) { return {}; }
inline stream create_stream() { return {}; }
template <class Native>
stream create_stream(Native&) {
  throw unsupported("", "create_stream", "this library takes host memory, not a device's queue");
}
template <class Native>
event create_event(Native&) {
  throw unsupported("", "create_event", "this library takes host memory, not a device's event");
}

}  // namespace v1
}  // namespace ccl
