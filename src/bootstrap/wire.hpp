// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The frames between members and the service, once both have proved that they know the secret
// (session.hpp).
//
// clang-format off
//   member -> service
//     kHello                       which rank it is, of how many
//     kRelease                     instead of a hello: nobody is to meet here
//     kGather(bytes)               its contribution to a round
//     kFail(code, text)            it cannot go on, nor can the others without it
//     kStay                        it wants to stay in touch after the meeting; then, until kLeave:
//     kTell(rank, bytes)           news for another rank
//     kSendPage(rank, bytes)       a longer one, for a command that looks from outside
//     kRegroup(bytes)              its contribution to a round among the ranks that are left
//     kWithdraw                    it no longer takes part in that round
//     kLeave                       it makes no more calls
//     kReturn(Return)              instead of a hello: its relay has ended or is stopped, and all had
//                                  stayed
//   relay -> service: a host's ranks come over one connection (relay.hpp)
//     kRelay                       instead of a hello
//     kFrom(Addressed, bytes)      a frame of a client, by the number that the relay has given it
//     kHungUp(Addressed)           a client's connection broke
//     kRefused(Addressed, text)    it refused a client of another version
//   service -> relay
//     kTo(Addressed, bytes)        a frame for a client
//     kToAll(Addressed, bytes)     a frame for all clients but one
//     kHangUp(Addressed)           a client is to go once it has read all
//   service -> member
//     kAdmitted                    the hello is taken
//     kWelcome(Seat)               all ranks are there
//     kContributions(bytes)        a round's, in rank order, in several frames
//     kError(code, text)           the meeting has failed; the last frame
//     kStayed(Keeper)              all ranks stay; then, as it happens:
//     kFailed(rank, code, text)    a rank has failed
//     kLeft(ranks)                 ranks make no more calls
//     kTold(rank, bytes)           news of another rank
//     kPage(rank, bytes)           a page of another rank
//     kRegroupContributions(bytes)  the numbers and contributions of those who are left,
//                                  in rank order and several frames; the last is empty
//     kWithdrawn(first, count)     to a rank that withdrew before that: whom the round lacked
//     kGoodbye                     all others within reach have been told: answers kLeave,
//                                  kRelease, and the first kFail before kStayed
//     kServiceLost(error)          of a relay: the connection to the service broke
// clang-format on
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.hpp"
#include "core/network.hpp"
#include "core/socket.hpp"
#include "core/status.hpp"

namespace tutti::bootstrap {

inline constexpr uint32_t kMostFrameBytes = 64 << 10;  // limit on kind and body together
// The most bytes of a body that may go by way of a relay.
inline constexpr size_t kMostBodyBytes = kMostFrameBytes - 16;
inline constexpr size_t kMostTextBytes = 4096;  // limit on a failure's text; longer ones are cut
// The time for the service to show that it knows the secret: until a busy one gets to it.
inline constexpr int64_t kProofMs = 10'000;
// The time that a rank that leaves waits for the word to be passed on. A service or relay in its
// own process tells the others; a relay in another process tells the service.
inline constexpr int64_t kFarewellMs = 1000;
inline constexpr uint32_t kProtocol = 17;

enum class MeetingFrameKind : uint8_t {
  kHello = 1,
  kAdmitted,
  kWelcome,
  kGather,
  kContributions,
  kError,
  kStay,
  kStayed,
  kFail,
  kFailed,
  kLeave,
  kLeft,
  kGoodbye,
  kTell,
  kTold,
  kSendPage,
  kPage,
  kRegroup,
  kWithdraw,
  kRegroupContributions,
  kWithdrawn,
  kRelease,
  kRelay,
  kFrom,
  kHungUp,
  kRefused,
  kTo,
  kToAll,
  kHangUp,
  kReturn,
  kServiceLost,
};

// A name of a host in a frame: closed by a zero.
using HostField = std::array<char, 64>;

// The first frame of a client. The last `newcomers` ranks of a communicator that grows are new.
// Each of them gives its number among these, and 0 for `ranks`, which it does not know.
struct Hello {
  int32_t rank;
  int32_t ranks;
  int32_t newcomers;
  int32_t pid;         // process number as the member sees it
  int32_t timeout_ms;  // how long it will wait from now; -1: for ever
  HostField host;
  int32_t beside_relay =
      0;  // 1: in the process of the relay by which it comes, which fills this in
};

// A member's rank and communicator, once all have met.
struct Seat {
  int32_t rank;
  int32_t ranks;
};

// The process in which the service runs.
struct Keeper {
  int32_t rank;  // -1: it is none of the ranks
  int32_t pid;
  HostField host;
  NetAddress returns;  // where ranks come to that go around their relay; not known: nowhere
};

// A rank that comes back, and how much it has been told: failures of others, ranks that have left,
// and rounds of regrouping.
struct Return {
  int32_t rank;
  uint32_t failures;
  uint32_t left;
  uint32_t rounds;
  int32_t relay_runs = 0;  // 1: its relay's process has not ended
};

// A client of a relay, and what comes from it or is for it.
struct Addressed {
  uint32_t client;  // number of the client, from 1 on; 0: nobody
  // The MeetingFrameKind of what is passed on. In kHungUp: the number of the system's error that
  // broke the connection, 0 if it was closed.
  int32_t what;
};

struct MeetingFrame {
  MeetingFrameKind kind;
  std::span<const std::byte> body;  // valid until the session is next used
};

// A T at the begin of a body, and what follows it; false if the body is too short.
template <typename T>
bool take(std::span<const std::byte>& body, T& value) {
  if (body.size() < sizeof value) return false;
  std::memcpy(&value, body.data(), sizeof value);
  body = body.subspan(sizeof value);
  return true;
}

inline std::string text_in(std::span<const std::byte> body) {
  return {reinterpret_cast<const char*>(body.data()), body.size()};
}

inline HostField host_field(const std::string& name) {
  HostField field{};
  put_text(field, name);
  return field;
}

// A failure as it travels: its code, then its text.
std::vector<std::byte> failure_bytes(const Status& cause);
Status failure_in(std::span<const std::byte> body);

// The text about a peer whose connection broke with this error of the system, 0 if it was closed.
// The text is " has died", or that the peer cannot be reached.
std::string connection_broke(int error);

inline std::string socket_name(const Random128& name) { return "tutti-" + to_hex(name); }
// The socket at which the relay of a host is met by its ranks.
inline std::string relay_name(const Random128& name) { return socket_name(name) + "-relay"; }

}  // namespace tutti::bootstrap
