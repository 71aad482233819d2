// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/run_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

namespace tutti::run {
namespace {

// A line longer than this is broken, so that a rank that writes no line ends costs no memory.
constexpr size_t kLongestLine = 64 << 10;

// Foreground colours of the terminal: red, green, ... without black and white.
std::string prefix_of(int rank, int target) {
  if (isatty(target) == 0) return fmt::format("[{}] ", rank);
  return fmt::format("\033[{}m[{}]\033[0m ", 31 + rank % 6, rank);
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd entry{fd, POLLOUT, 0};
      poll(&entry, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool Output::add(int rank, int target, tutti::Fd& write_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  write_end.reset(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  streams_.push_back({tutti::Fd(ends[0]), target, prefix_of(rank, target), {}});
  return true;
}

void Output::add_to(std::vector<pollfd>& polled) const {
  for (const Stream& stream : streams_) polled.push_back({stream.pipe.get(), POLLIN, 0});
}

void Output::take(std::span<const pollfd> polled) {
  size_t i = 0;
  for (Stream& stream : streams_) {
    if (polled[i++].revents != 0) read_from(stream);
  }
}

void Output::write_line(Stream& stream, size_t length) {
  const bool whole = write_all(stream.target, stream.prefix + stream.line.substr(0, length) + "\n");
  // Nobody reads any more: the rank shall learn it as it would without us.
  if (!whole) stream.pipe.reset();
}

void Output::read_from(Stream& stream) {
  char buffer[16 << 10];
  while (stream.pipe.open()) {
    const ssize_t got = read(stream.pipe.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      stream.pipe.reset();
      break;
    }
    stream.line.append(buffer, static_cast<size_t>(got));
    size_t end;
    while ((end = stream.line.find('\n')) != std::string::npos ||
           stream.line.size() > kLongestLine) {
      const size_t length = std::min(end, kLongestLine);
      write_line(stream, length);
      stream.line.erase(0, length + (length == end ? 1 : 0));
    }
  }
  if (!stream.line.empty()) write_line(stream, stream.line.size());
  stream.line.clear();
}

void Output::finish() {
  for (Stream& stream : streams_) {
    read_from(stream);
    if (!stream.line.empty()) write_line(stream, stream.line.size());
    stream.line.clear();
  }
}

}  // namespace tutti::run
