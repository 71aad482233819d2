// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/wire.hpp"

#include <cerrno>
#include <system_error>

namespace tutti::bootstrap {

std::vector<std::byte> failure_bytes(const Status& cause) {
  const auto code = static_cast<int32_t>(cause.code());
  const std::string_view text = cause.message().substr(0, kMostTextBytes);
  std::vector<std::byte> bytes(sizeof code + text.size());
  std::memcpy(bytes.data(), &code, sizeof code);
  std::memcpy(bytes.data() + sizeof code, text.data(), text.size());
  return bytes;
}

Status failure_in(std::span<const std::byte> body) {
  int32_t code = 0;
  if (!take(body, code)) return {Code::kInternal, "an error without a text"};
  const auto given = static_cast<Code>(code);
  return {is_error(given) ? given : Code::kInternal, text_in(body)};
}

std::string connection_broke(int error) {
  // Without an answer from the host itself its processes may well live on.
  if (error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH) {
    return " can no longer be reached: " + std::generic_category().message(error);
  }
  if (error == EPROTO) return " was cut off: what it said was changed on its way";
  return " has died";
}

}  // namespace tutti::bootstrap
