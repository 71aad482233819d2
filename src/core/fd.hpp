// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A file descriptor that closes itself, and is never one of the standard streams.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tutti {

// Gives a descriptor that the system has just made for this library a number that no program takes
// for standard input, output or error. A program may have closed these, and go on to write to them
// or to open them anew. Returns -1, with errno, if the call that made it did.
inline int above_standard(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  close(fd);
  errno = error;
  return moved;
}

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(above_standard(fd)) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }
  void reset(int fd = -1) {
    if (fd_ >= 0) close(fd_);
    fd_ = above_standard(fd);
  }

 private:
  int fd_ = -1;
};

}  // namespace tutti
