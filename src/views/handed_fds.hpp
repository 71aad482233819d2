// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Descriptors that processes hand one another over a Unix socket (SCM_RIGHTS): for where the system
// does not let a process take those of another itself (pidfd_getfd).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/socket.hpp"

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

// The asking side.
class FdRequest {
 public:
  // For the descriptor of that number in the owner's process.
  static Result<FdRequest> ask(const FdAddress& address, int fd);
  // Not open if the answer has not come yet.
  Result<Fd> poll();

 private:
  explicit FdRequest(Fd socket);

  Fd socket_;
  int64_t deadline_ms_;
};

// The descriptors that something on its way needs and may not take itself.
class WantedFds {
 public:
  // That of a number in the process of a rank.
  void want(int rank, int32_t number);
  [[nodiscard]] bool empty() const { return wanted_.empty(); }
  void clear() { wanted_.clear(); }
  // Asks for each, and says whether all have come.
  Result<bool> ask(const std::function<const FdAddress&(int rank)>& address_of);
  // One that has come, which is then no longer wanted; else not open.
  Fd take(int rank, int32_t number);

 private:
  struct Wanted {
    int rank;
    int32_t number;
    std::optional<FdRequest> request;
    Fd fd;  // once it has come
  };
  std::vector<Wanted> wanted_;
};

}  // namespace tutti
