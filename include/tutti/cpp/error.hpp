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

// What a call said. Costs a program nothing that it would not pay in C.
class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  // `text`: instead of tutti_last_error(); must stay.
  constexpr Status(tutti_status code, const char* text = nullptr) : code_(code), text_(text) {}

  [[nodiscard]] constexpr tutti_status code() const { return code_; }
  [[nodiscard]] constexpr bool ok() const { return code_ == TUTTI_OK; }
  constexpr explicit operator bool() const { return ok(); }
  // To be asked in the thread of the call, before its next failing one.
  [[nodiscard]] const char* text() const {
    if (ok()) return "";
    return text_ != nullptr ? text_ : tutti_last_error();
  }

 private:
  tutti_status code_ = TUTTI_OK;
  const char* text_ = nullptr;
};

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
[[noreturn, gnu::cold, gnu::noinline]] inline void raise(Status status) { throw Error(status); }
}  // namespace detail

// A value, or why there is none.
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

// Errors are thrown.
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

// Errors are returned.
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
