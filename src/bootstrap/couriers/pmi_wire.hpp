// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The connection to a process manager that speaks PMI: bytes with deadlines, and fields in them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/status.hpp"

namespace tutti::couriers {

// The fields of a message, "name=value" each.
using Fields = std::map<std::string, std::string, std::less<>>;
Fields read_fields(std::string_view text);

class PmiWire {
 public:
  // Over a descriptor that stays the launcher's, or an MPI library's: it is never closed here.
  static Result<PmiWire> open(int fd);

  Status send(std::string_view bytes, int64_t deadline_ms);
  // Without its line feed.
  Result<std::string> read_line(int64_t deadline_ms);

  // Longer messages are no PMI.
  static constexpr size_t kLongest = 16 << 10;

 private:
  explicit PmiWire(int fd) : fd_(fd) {}
  [[nodiscard]] Status hung_up() const;
  Status receive_more(int64_t deadline_ms);

  int fd_;
  std::string buffer_;
};

}  // namespace tutti::couriers
