// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The log: lines on standard error, "tutti[3] 2026-11-27 09:30:12.345 warn: ...", where 3 is the
// rank and the time that of the host. Its level and the rank are the process's: they are set once,
// when the first communicator is made. Any thread may log at any time; a line is written by one
// write(2), so lines of several ranks do not mix. They are lost if standard error is closed or
// nobody reads it: no SIGPIPE ends the program.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tutti {

enum class LogLevel : uint8_t { kError, kWarn, kInfo, kDebug, kTrace };

std::string_view log_level_name(LogLevel level);

namespace log {

void set_level(LogLevel level);
void set_rank(int rank);  // -1: not known (the start); lines then begin with "tutti:"
bool enabled(LogLevel level);

// The bytes that write() sends at that time, in milliseconds since 1970. They are `text` with the
// prefix before each of its lines, and a newline at the end.
std::string format_lines(LogLevel level, int rank, int64_t time_ms, std::string_view text);
// Whether write() would have to wait for whoever reads standard error.
bool would_block();
// Writes unconditionally; errno is left as it was.
void write(LogLevel level, std::string_view text);

template <typename... Args>
void message(LogLevel level, fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(level)) write(level, fmt::format(text, std::forward<Args>(args)...));
}
template <typename... Args>
void error(fmt::format_string<Args...> text, Args&&... args) {
  message(LogLevel::kError, text, std::forward<Args>(args)...);
}
template <typename... Args>
void warn(fmt::format_string<Args...> text, Args&&... args) {
  message(LogLevel::kWarn, text, std::forward<Args>(args)...);
}
template <typename... Args>
void info(fmt::format_string<Args...> text, Args&&... args) {
  message(LogLevel::kInfo, text, std::forward<Args>(args)...);
}
template <typename... Args>
void debug(fmt::format_string<Args...> text, Args&&... args) {
  message(LogLevel::kDebug, text, std::forward<Args>(args)...);
}
template <typename... Args>
void trace(fmt::format_string<Args...> text, Args&&... args) {
  message(LogLevel::kTrace, text, std::forward<Args>(args)...);
}

}  // namespace log
}  // namespace tutti
