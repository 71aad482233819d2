// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/communicator_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>

#include "core/fields.hpp"
#include "core/sized.hpp"

namespace tutti {
namespace {

std::string next_name() {
  static std::atomic<int> counter{0};
  return fmt::format("comm {}", counter.fetch_add(1));
}

// The struct's first members, up to the name, which the first version had.
constexpr size_t kFirstConfigBytes = offsetof(tutti_comm_config, tuner);

int64_t milliseconds(int64_t value) { return value < 0 ? kNever : value; }

// A struct of zeros, say, would be one of calls that fail at once.
Status check_wait(std::string_view field, int32_t given) {
  if (given == -1 || given > 0) return {};
  return Status::format(Code::kInvalidArgument,
                        "tutti_comm_config.{} is {}: expected 1 or more, or -1: begin with "
                        "TUTTI_COMM_CONFIG_INIT",
                        field, given);
}

}  // namespace

Result<CommunicatorConfig> resolve_config(const tutti_comm_config* config,
                                          const Environment& environment) {
  tutti_comm_config given = TUTTI_COMM_CONFIG_INIT;
  if (config != nullptr) {
    TUTTI_RETURN_IF_ERROR(check_struct(
        {"tutti_comm_config", "begin with TUTTI_COMM_CONFIG_INIT", kFirstConfigBytes, sizeof given},
        config));
    std::memcpy(&given, config, std::min(config->size, sizeof given));
  }
  TUTTI_RETURN_IF_ERROR(check_wait("timeout_ms", given.timeout_ms));
  TUTTI_RETURN_IF_ERROR(check_wait("init_timeout_ms", given.init_timeout_ms));
  if (given.strict < -1 || given.strict > 1) {
    return Status::format(Code::kInvalidArgument,
                          "tutti_comm_config.strict is {}: expected 0, 1, or -1: begin with "
                          "TUTTI_COMM_CONFIG_INIT",
                          given.strict);
  }
  CommunicatorConfig resolved;
  resolved.timeout_ms = milliseconds(
      given.timeout_ms >= 0 ? given.timeout_ms : static_cast<int64_t>(environment.timeout_ms));
  resolved.init_timeout_ms = milliseconds(given.init_timeout_ms >= 0 ? given.init_timeout_ms
                                                                     : environment.init_timeout_ms);
  resolved.strict = given.strict >= 0 ? given.strict != 0 : environment.strict;
  resolved.name = given.name != nullptr ? readable(given.name) : next_name();
  if (given.tuner != nullptr) {
    TUTTI_RETURN_IF_ERROR(check_struct(
        {"tutti_tuner", "give it sizeof(tutti_tuner)", sizeof(tutti_tuner), sizeof(tutti_tuner)},
        given.tuner));
    if (given.tuner->choose == nullptr) {
      return Status(Code::kInvalidArgument, "tutti_tuner.choose is NULL, expected a function");
    }
    resolved.tuner = *given.tuner;
  }
  return resolved;
}

}  // namespace tutti
