// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Status and Result: how every fallible function inside the library reports.
#pragma once

#include <fmt/format.h>
#include <tutti/tutti.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tutti {

enum class Code : int {
  kOk = TUTTI_OK,
  kInvalidArgument = TUTTI_ERR_INVALID_ARGUMENT,
  kInvalidUsage = TUTTI_ERR_INVALID_USAGE,
  kUnsupported = TUTTI_ERR_UNSUPPORTED,
  kOutOfMemory = TUTTI_ERR_OUT_OF_MEMORY,
  kSystem = TUTTI_ERR_SYSTEM,
  kMismatch = TUTTI_ERR_MISMATCH,
  kPeerFailed = TUTTI_ERR_PEER_FAILED,
  kTimeout = TUTTI_ERR_TIMEOUT,
  kAborted = TUTTI_ERR_ABORTED,
  kTruncated = TUTTI_ERR_TRUNCATED,
  kInternal = TUTTI_ERR_INTERNAL,
  kInterrupted = TUTTI_ERR_INTERRUPTED,
};

std::string_view code_name(Code code);
// Whether it is the code of an error; one that was read from somewhere may be none at all.
bool is_error(Code code);

// Success costs one null pointer. An error carries its code and a sentence, before which each
// caller may put where it happened ("allreduce #12: connect to rank 3: ...").
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message)
      : error_(std::make_shared<const Error>(Error{code, std::move(message)})) {}

  template <typename... Args>
  static Status format(Code code, fmt::format_string<Args...> text, Args&&... args) {
    return {code, fmt::format(text, std::forward<Args>(args)...)};
  }
  // An error with strerror(error_number) at its end. `what` says what was asked of the system.
  static Status system(int error_number, std::string_view what);

  [[nodiscard]] bool ok() const { return error_ == nullptr; }
  [[nodiscard]] Code code() const { return error_ ? error_->code : Code::kOk; }
  [[nodiscard]] std::string_view message() const {
    return error_ ? std::string_view(error_->message) : std::string_view();
  }
  // This error with "context: " before its text; success stays success.
  [[nodiscard]] Status with_context(std::string_view context) const;

 private:
  struct Error {
    Code code;
    std::string message;
  };
  std::shared_ptr<const Error> error_;
};

// A value or the reason why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  [[nodiscard]] const Status& status() const { return status_; }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace tutti

// Leaves the enclosing function with the error, if `expression` gives one.
#define TUTTI_RETURN_IF_ERROR(expression)                                                  \
  do {                                                                                     \
    if (::tutti::Status status_here = (expression); !status_here.ok()) return status_here; \
  } while (false)

// Declares or sets `target` with the value that an expression gives, or leaves the enclosing
// function with its error: TUTTI_ASSIGN_OR_RETURN(const auto file, open_file(path));
#define TUTTI_ASSIGN_OR_RETURN(target, ...) \
  TUTTI_ASSIGN_OR_RETURN_BY(TUTTI_JOINED(result_, __LINE__), target, __VA_ARGS__)
#define TUTTI_ASSIGN_OR_RETURN_BY(result, target, ...) \
  auto result = __VA_ARGS__;                           \
  if (!result.ok()) return result.status();            \
  target = *std::move(result)
#define TUTTI_JOINED(a, b) TUTTI_JOINED_AS_THEY_ARE(a, b)
#define TUTTI_JOINED_AS_THEY_ARE(a, b) a##b
