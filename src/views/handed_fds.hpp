// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Descriptors that processes hand one another over a Unix socket (SCM_RIGHTS), when asked.
#pragma once

#include <vector>

#include "comm/communicator.hpp"
#include "core/socket.hpp"
#include "views/task.hpp"

namespace tutti {

// The socket to ask. Others may see its name, but only those that know the secret are answered.
struct FdAddress {
  Random128 name{};  // all zero: nowhere
  Random128 secret{};
};

// A descriptor by its number in the owner's process, where it may belong to another allocation by
// the time that it is asked for.
struct WantedFd {
  uint64_t allocation = 0;  // ExportedBuffer::allocation
  int32_t fd = -1;
  int32_t unused = 0;
};

// The owner's side. Nothing here blocks.
class FdServer {
 public:
  // Opens at the first call; where there can be no socket, the address is nowhere.
  const FdAddress& address();
  // Answers who has asked by now. `may_have(wanted)`: whether to hand out that one.
  template <typename MayHave>
  void serve(const MayHave& may_have) {
    take_clients();
    std::erase_if(clients_, [&](const Fd& client) {
      WantedFd wanted;
      if (!read_question(client, wanted)) return false;
      if (wanted.fd >= 0 && may_have(wanted)) answer(client, wanted.fd);
      return true;
    });
  }

 private:
  void take_clients();
  // Whether it has come; none is wanted if it is wrong.
  bool read_question(const Fd& client, WantedFd& wanted) const;
  static void answer(const Fd& client, int fd);

  bool tried_ = false;
  FdAddress address_;
  Fd listener_;
  std::vector<Fd> clients_;
};

// Asks the owner for it.
Task ask_for_fd(const FdAddress& address, WantedFd wanted, Communicator& comm, Result<Fd>& fd);

}  // namespace tutti
