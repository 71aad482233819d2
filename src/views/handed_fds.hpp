// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Descriptors that processes hand one another over a Unix socket (SCM_RIGHTS), when asked.
#pragma once

#include <vector>

#include "comm/communicator.hpp"
#include "core/socket.hpp"
#include "views/task.hpp"

namespace tutti {

// Where to ask. Others may see the name of the socket, but only who is told the secret is answered.
struct FdAddress {
  Random128 name{};  // all zero: nowhere
  Random128 secret{};
};

// The owner's side. Nothing here blocks.
class FdDesk {
 public:
  // Opens at the first call; where there can be no socket, the address is nowhere.
  const FdAddress& address();
  // Answers who has asked by now. `may_have(fd)`: whether to hand out that one.
  template <typename MayHave>
  void serve(const MayHave& may_have) {
    take_clients();
    std::erase_if(clients_, [&](const Fd& client) {
      const int wanted = read_question(client);
      if (wanted >= 0 && may_have(wanted)) answer(client, wanted);
      return wanted != kNotYet;
    });
  }

 private:
  static constexpr int kNotYet = -1;
  static constexpr int kWrong = -2;

  void take_clients();
  // The descriptor that is asked for, or one of the above.
  [[nodiscard]] int read_question(const Fd& client) const;
  static void answer(const Fd& client, int fd);

  bool tried_ = false;
  FdAddress address_;
  Fd listener_;
  std::vector<Fd> clients_;
};

// Asks for the descriptor of that number in the owner's process.
Task ask_for_fd(const FdAddress& address, int number, Communicator& comm, Result<Fd>& fd);

}  // namespace tutti
