// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A handle of memory and its file descriptor, from one process of a test to another.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>

namespace tutti_test {

using HandleBytes = std::array<std::byte, 64>;

class HandleMessage {
 public:
  explicit HandleMessage(HandleBytes& bytes) : part_{bytes.data(), bytes.size()} {
    message_.msg_iov = &part_;
    message_.msg_iovlen = 1;
    message_.msg_control = control_;
    message_.msg_controllen = sizeof control_;
  }
  HandleMessage(const HandleMessage&) = delete;
  HandleMessage& operator=(const HandleMessage&) = delete;

  void send(int socket, int fd) {
    cmsghdr* const header = CMSG_FIRSTHDR(&message_);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    ASSERT_EQ(sendmsg(socket, &message_, 0), static_cast<ssize_t>(part_.iov_len));
  }

  // The descriptor, of this process.
  int receive(int socket) {
    EXPECT_EQ(recvmsg(socket, &message_, 0), static_cast<ssize_t>(part_.iov_len));
    int fd = -1;
    if (const cmsghdr* const header = CMSG_FIRSTHDR(&message_)) {
      std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    }
    return fd;
  }

 private:
  iovec part_;
  alignas(cmsghdr) char control_[CMSG_SPACE(sizeof(int))] = {};
  msghdr message_{};
};

}  // namespace tutti_test
