// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The exchange by which transports learn of one another while a communicator is being made. They do
// not know who provides it: the bootstrap service, or the parent of a split.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/fields.hpp"
#include "core/status.hpp"

namespace tutti {

// News that a rank gets of the others after the meeting.
struct ControlNews {
  enum class Kind { kFailed, kLeft, kTold, kPage, kContribution, kRegrouped, kWithdrawn };
  Kind kind = Kind::kFailed;
  // The rank that reported the failure, died, left, told, showed or gave something. For kWithdrawn,
  // the first of the `count` ranks that the round lacked.
  int rank = 0;
  int count = 0;
  Status cause = {};                 // of a failure
  std::vector<std::byte> body = {};  // bytes that were told, shown or given
};

inline constexpr size_t kMostNewsBytes = 256;
inline constexpr size_t kMostPageBytes = 16 << 10;

// The connection to the other ranks that stays open after the meeting, for ranks that do not see
// one another's processes. A rank whose connection breaks before it left has died, and all others
// are told. Any thread.
class Control {
 public:
  // Hangs up.
  virtual ~Control() = default;
  // Readable when there is news.
  [[nodiscard]] virtual int fd() const = 0;
  // The news since the last call; does not block. If the connection itself is broken, the last
  // piece of news says why, and no more will come.
  virtual std::vector<ControlNews> read() = 0;
  // Looks at what shows no news: whether the process that this rank is connected through runs.
  // Called several times a second (Monitor). Does not block.
  virtual void look() = 0;
  // Tells one rank something, of at most kMostNewsBytes, that may get lost if it takes in nothing.
  // Does not block.
  virtual void tell(int rank, std::span<const std::byte> body) = 0;
  // Sends one rank at most kMostPageBytes, for a command that looks from outside: the news is
  // kPage.
  virtual void send_page(int rank, std::span<const std::byte> page) = 0;
  // Takes part in a round of those who are left, with at most kMostNewsBytes. Once all do who have
  // neither died nor left, the news is each one's kContribution, in rank order, and then
  // kRegrouped, the same for all. Does not block; fails once the connection is broken.
  virtual Status regroup(std::span<const std::byte> contribution) = 0;
  // Does not take part after all. The news is kWithdrawn, or what the round came to if it is over.
  virtual void withdraw() = 0;
  // Whether there may still be news.
  [[nodiscard]] virtual bool is_open() = 0;
  // Tells all others; neither blocks.
  virtual void fail(const Status& cause) = 0;
  virtual void leave() = 0;
};

// Limit on what one rank gives to one allgather().
inline constexpr size_t kMostGatherBytes = 4096;

class Exchange {
 public:
  virtual ~Exchange() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;
  // Collective: gives every rank's bytes, at most kMostGatherBytes, in rank order. Ends with an
  // error naming the missing ranks when they do not arrive before the deadline set at its creation.
  virtual Result<std::vector<std::vector<std::byte>>> allgather(
      std::span<const std::byte> mine) = 0;
  // This rank cannot go on: the others, whose calls then fail, are told why. Gives what to return
  // for it: `mine`, or the failure of another rank from which it followed. Waits a moment for the
  // answer, and where this process is to tell the others, until they have come and know. Further
  // calls fail likewise. Not after stay().
  virtual Status fail(const Status& mine) { return mine; }
  // The failure of another rank since, if there is one; does not wait.
  [[nodiscard]] virtual Status failure() { return {}; }
  // Collective, and the last call on it: all ranks have come so far, and stay in touch. Null for an
  // exchange that cannot.
  virtual Result<std::unique_ptr<Control>> stay() { return std::unique_ptr<Control>(); }
};

// The value that every rank gave, each the bytes of one T.
template <typename T, typename Contributions>
Result<std::vector<T>> values_in(const Contributions& contributions) {
  std::vector<T> values(contributions.size());
  for (size_t rank = 0; rank < values.size(); ++rank) {
    if (contributions[rank].size() != sizeof(T)) {
      return Status::format(Code::kInternal, "rank {} sent {} bytes where {} were expected", rank,
                            contributions[rank].size(), sizeof(T));
    }
    std::memcpy(&values[rank], contributions[rank].data(), sizeof(T));
  }
  return values;
}

// Collective: every rank's value, in rank order.
template <typename T>
Result<std::vector<T>> gather_values(Exchange& exchange, const T& mine) {
  TUTTI_ASSIGN_OR_RETURN(auto all, exchange.allgather(bytes_of(mine)));
  return values_in<T>(all);
}

// Collective: what every rank has to say, of any length, in rank order. If some rank comes with an
// error, all get the error of the first of them, with "rank 3: " before it.
Result<std::vector<std::string>> share(Exchange& exchange, const Result<std::string>& mine);
// Shares the errors of ranks that have nothing else to say.
inline Status share_errors(Exchange& exchange, const Status& mine) {
  return share(exchange, mine.ok() ? Result<std::string>(std::string()) : mine).status();
}

}  // namespace tutti
