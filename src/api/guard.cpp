// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "api/guard.hpp"

#include <deque>
#include <mutex>
#include <string>

#include "core/interrupt.hpp"

namespace {

thread_local std::string last_error;

constexpr size_t kMostRetired = 512;  // handles

}  // namespace

namespace tutti {

tutti_status report(const Status& status) noexcept {
  const bool was_interrupted = take_interrupt();
  try {
    last_error = status.message();
    // A wait that gave up for that reason says what it waited for.
    if (was_interrupted && status.code() != Code::kAborted) {
      last_error = "interrupted while it waited: " + last_error;
    }
  } catch (const std::bad_alloc&) {
    last_error.clear();
    return TUTTI_ERR_OUT_OF_MEMORY;
  }
  return was_interrupted ? TUTTI_ERR_INTERRUPTED : static_cast<tutti_status>(status.code());
}

tutti_status report_forked() noexcept {
  return guard_anywhere([] { return refuse_forked(); });
}

Status refuse_comm(const tutti_comm* comm, std::string_view function) {
  if (comm == nullptr) return expect_not_null(comm, function, "comm");
  return Status::format(Code::kInvalidUsage,
                        "{}: comm was destroyed (tutti_comm_destroy); its handle is good for "
                        "nothing any more",
                        function);
}

void retire(std::unique_ptr<tutti_comm> comm) {
  static auto& lock = *new std::mutex;  // programs may destroy communicators as they end
  static auto& retired = *new std::deque<std::unique_ptr<tutti_comm>>;
  // In place: the handle that the program has stays where it is.
  std::destroy_at(comm.get());
  std::construct_at(comm.get());
  const std::lock_guard guard(lock);
  retired.push_back(std::move(comm));
  if (retired.size() > kMostRetired) retired.pop_front();
}

}  // namespace tutti

#define TUTTI_TEXT_OF(x) #x
#define TUTTI_TEXT(x) TUTTI_TEXT_OF(x)

extern "C" {

int tutti_version(void) { return TUTTI_VERSION; }

const char* tutti_version_string(void) {
  return TUTTI_TEXT(TUTTI_VERSION_MAJOR) "." TUTTI_TEXT(TUTTI_VERSION_MINOR) "." TUTTI_TEXT(
      TUTTI_VERSION_PATCH);
}

const char* tutti_last_error(void) { return last_error.c_str(); }

tutti_status tutti_set_interrupt_check(tutti_interrupt_fn check, void* context) {
  tutti::set_interrupt_check(check, context);
  return TUTTI_OK;
}

const char* tutti_status_name(tutti_status status) {
  return tutti::code_name(static_cast<tutti::Code>(status)).data();
}

size_t tutti_type_size(tutti_type type) {
  const auto index = static_cast<unsigned>(type);
  return index < tutti::kDataTypes ? tutti::type_size(static_cast<tutti::DataType>(index)) : 0;
}

const char* tutti_type_name(tutti_type type) {
  const auto index = static_cast<unsigned>(type);
  return index < tutti::kDataTypes ? tutti::type_name(static_cast<tutti::DataType>(index)).data()
                                   : "unknown";
}

const char* tutti_op_name(tutti_op op) {
  return op >= 0 && op < tutti::kBuiltinReduceOps
             ? tutti::op_name(static_cast<tutti::ReduceOp>(op)).data()
             : "unknown";
}

}  // extern "C"
