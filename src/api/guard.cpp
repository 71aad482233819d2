// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "api/guard.hpp"

#include <string>

#include "core/interrupt.hpp"

namespace {

thread_local std::string last_error;

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

}  // namespace tutti

extern "C" {

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
