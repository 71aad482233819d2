// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/couriers/pmi_wire.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "core/socket.hpp"
#include "core/wait.hpp"

namespace tutti::couriers {

Fields read_fields(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    const std::string_view item = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) continue;
    fields.emplace(item.substr(0, equals), item.substr(equals + 1));
  }
  return fields;
}

Result<PmiWire> PmiWire::open(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM) {
    return PmiWire(fd);
  }
  return Status::format(
      Code::kInvalidUsage,
      "PMI_FD is {}, which is no connection to the process manager any more: it was closed by this "
      "program, by MPI_Finalize, or by a wrapper that started it",
      fd);
}

Status PmiWire::hung_up() const {
  return Status::format(Code::kPeerFailed,
                        "the process manager (PMI_FD={}) has hung up: the job is ending, or an "
                        "earlier program of this process has said goodbye to it",
                        fd_);
}

Status PmiWire::send(std::string_view bytes, int64_t deadline_ms) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return hung_up();
    } else if (errno != EAGAIN && errno != EINTR) {
      return Status::system(errno, "writing to the process manager (PMI_FD)");
    } else if (!wait_for(fd_, POLLOUT, deadline_ms)) {
      return Status::format(Code::kTimeout, "the process manager (PMI_FD={}) takes no more", fd_);
    }
  }
  return {};
}

Status PmiWire::receive_more(int64_t deadline_ms) {
  char bytes[4096];
  for (;;) {
    const ssize_t got = recv(fd_, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got > 0) {
      buffer_.append(bytes, static_cast<size_t>(got));
      return {};
    }
    if (got == 0 || errno == ECONNRESET) return hung_up();
    if (errno != EAGAIN && errno != EINTR) {
      return Status::system(errno, "reading from the process manager (PMI_FD)");
    }
    if (!wait_for(fd_, POLLIN, deadline_ms)) {
      return Status::format(
          Code::kTimeout,
          "the process manager (PMI_FD={}) does not answer: a process of the job has "
          "not come this far, or has ended",
          fd_);
    }
  }
}

Result<std::string> PmiWire::read_line(int64_t deadline_ms) {
  size_t end;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    if (buffer_.size() > kLongest) {
      return Status::format(Code::kSystem,
                            "the process manager (PMI_FD={}) sent more than {} bytes "
                            "without an end of line",
                            fd_, kLongest);
    }
    TUTTI_RETURN_IF_ERROR(receive_more(deadline_ms));
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

}  // namespace tutti::couriers
