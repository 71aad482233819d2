// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/log.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <ctime>

#include "core/fields.hpp"
#include "core/files.hpp"

namespace tutti {
namespace {

constexpr std::array<std::string_view, 5> kLevelNames = {"error", "warn", "info", "debug", "trace"};

// Relaxed: a thread that logs while they are being set may use either value.
std::atomic<LogLevel> level_now{LogLevel::kWarn};
std::atomic<int> rank_now{-1};

std::string time_of_day(int64_t time_ms) {
  const time_t seconds = time_ms / 1000;
  tm parts{};
  localtime_r(&seconds, &parts);
  return fmt::format("{}-{:02}-{:02} {:02}:{:02}:{:02}.{:03}", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     time_ms % 1000);
}

// Standard error may have become a pipe or a socket that nobody reads any more. A line of the log
// is lost then, and must not end the program.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &old_mask_);
  }
  ~NoPipeSignal() {
    const timespec now{};
    if (!was_pending_) (void)sigtimedwait(&pipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  bool was_pending_ = false;
  sigset_t pipe_;
  sigset_t old_mask_;
};

}  // namespace

std::string_view log_level_name(LogLevel level) { return kLevelNames[static_cast<size_t>(level)]; }

namespace log {

void set_level(LogLevel level) { level_now.store(level, std::memory_order_relaxed); }
void set_rank(int rank) { rank_now.store(rank, std::memory_order_relaxed); }
bool enabled(LogLevel level) { return level <= level_now.load(std::memory_order_relaxed); }

std::string format_lines(LogLevel level, int rank, int64_t time_ms, std::string_view text) {
  const std::string who = rank < 0 ? "tutti:" : fmt::format("tutti[{}]", rank);
  const std::string prefix =
      fmt::format("{} {} {}: ", who, time_of_day(time_ms), log_level_name(level));
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::string lines;
  for (;;) {
    const size_t end = text.find('\n');
    // Names are anybody's choice, and logs are read in terminals.
    lines.append(prefix).append(readable(std::string(text.substr(0, end)))).push_back('\n');
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

bool would_block() {
  pollfd error{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&error, 1, 0) == 0;
}

void write(LogLevel level, std::string_view text) {
  const int error_number = errno;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t time_ms = static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
  const std::string lines =
      format_lines(level, rank_now.load(std::memory_order_relaxed), time_ms, text);
  {
    const NoPipeSignal scope;
    (void)write_all(STDERR_FILENO, lines);  // a closed or full one is no reason to fail
  }
  errno = error_number;
}

}  // namespace log
}  // namespace tutti
