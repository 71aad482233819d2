// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How errors are told: Throw and Nothrow, of which every class here is made once each.
#pragma once

#include <tutti/tutti.h>

#include <stdexcept>
#include <type_traits>
#include <utility>

namespace tutti {
// The library's own classes have these names in tutti itself; a program may contain both.
inline namespace api {

// The outcome of a call: a code, and the sentence that belongs to it.
//
// Ownership: none; a copy is as good as the original. The text is the library's, that of the
// calling thread's last failure. So it must be asked for in that thread, before the next call
// fails. Errors: nothing here throws.
class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  // `text` stands for that of tutti_last_error(), and must outlive the object.
  constexpr Status(tutti_status code, const char* text = nullptr) : code_(code), text_(text) {}

  [[nodiscard]] constexpr tutti_status code() const { return code_; }
  [[nodiscard]] constexpr bool ok() const { return code_ == TUTTI_OK; }
  constexpr explicit operator bool() const { return ok(); }
  // The sentence; empty if ok().
  [[nodiscard]] const char* text() const {
    if (ok()) return "";
    return text_ != nullptr ? text_ : tutti_last_error();
  }

 private:
  tutti_status code_ = TUTTI_OK;
  const char* text_ = nullptr;
};

// The exception that calls with the policy Throw throw: the code, and as what() the sentence.
//
// Ownership and threads: it has a copy of the text, so it can be kept and passed to other threads.
class Error : public std::runtime_error {
 public:
  explicit Error(Status status) : std::runtime_error(status.text()), code_(status.code()) {}
  [[nodiscard]] tutti_status code() const { return code_; }
  // "TUTTI_ERR_TIMEOUT"
  [[nodiscard]] const char* name() const { return tutti_status_name(code_); }

 private:
  tutti_status code_;
};

namespace detail {
// Throws out of line, so that calls stay short.
[[noreturn, gnu::cold, gnu::noinline]] inline void raise(Status status) { throw Error(status); }
}  // namespace detail

// A value, or why there is none: what calls with the policy Nothrow return.
//
// Ownership: has the value, and gives it away with std::move(result).value().
// Errors: value() throws tutti::Error if there is none; the other functions never throw.
template <typename Value>
class [[nodiscard]] Result {
 public:
  Result(Status status, Value&& value) : status_(status), value_(std::move(value)) {}

  [[nodiscard]] bool ok() const { return status_.ok(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] Status status() const { return status_; }
  [[nodiscard]] tutti_status code() const { return status_.code(); }
  [[nodiscard]] const char* text() const { return status_.text(); }
  // Throws Error if there is none.
  Value& value() & {
    if (!ok()) detail::raise(status_);
    return value_;
  }
  Value&& value() && { return std::move(value()); }
  // Only if ok().
  Value& operator*() & { return value_; }
  Value&& operator*() && { return std::move(value_); }
  Value* operator->() { return &value_; }

 private:
  Status status_;
  Value value_;
};

// The policy by which errors are exceptions (tutti::Error).
struct Throw {
  template <typename Value = void>
  using Result = Value;

  static void give(Status status) {
    if (!status.ok()) [[unlikely]]
      detail::raise(status);
  }
  template <typename Value>
  static Value give(Status status, Value value) {
    give(status);
    return value;
  }
};

// The policy by which errors are returned, as a Status or a Result.
struct Nothrow {
  template <typename Value = void>
  using Result = std::conditional_t<std::is_void_v<Value>, Status, api::Result<Value>>;

  static Status give(Status status) { return status; }
  template <typename Value>
  static api::Result<Value> give(Status status, Value value) {
    return {status, std::move(value)};
  }
};

}  // namespace api
}  // namespace tutti
