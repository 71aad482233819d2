// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What members and the service say to each other once both have proved that they know the secret
// (session.hpp):
//   member -> service   kHello  kGather(bytes)  kStay  kFail(code, text)
//                       kTell(rank, bytes)  kRegroup(bytes)  kWithdraw  kLeave
//   service -> member   kAdmitted, kWelcome(Seat) when all ranks are there; per gather one
//                       kPart(rank, bytes) of each rank in rank order; kStayed(Keeper) when all
//                       stay, then kFailed(rank, code, text), kLeft(rank) and kTold(rank,
//                       bytes) as it happens, and when all that are left regroup each one's
//                       kRegroupPart(rank, bytes) in rank order and kRegrouped; to who withdraws
//                       before, kWithdrawn(first of those not there, how many);
//                       kGoodbye to who left; kError(code, text) before kStayed, the last frame
//                       then
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.hpp"
#include "core/socket.hpp"
#include "core/status.hpp"

namespace tutti::bootstrap {

inline constexpr uint32_t kMaxFrameBytes = 64 << 10;  // of kind and body
inline constexpr size_t kMaxGatherBytes = 4096;
inline constexpr size_t kMaxTextBytes = 4096;  // of a failure; longer ones are cut
inline constexpr uint32_t kProtocol = 6;

enum class FrameKind : uint8_t {
  kHello = 1,
  kAdmitted,
  kWelcome,
  kGather,
  kPart,
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
  kRegroup,
  kWithdraw,
  kRegroupPart,
  kRegrouped,
  kWithdrawn,
};

// A name of a host in a frame: closed by a zero.
using HostField = std::array<char, 64>;

// Of a communicator that grows, the last `newcomers` ranks are new. Each of those says its number
// among them, and 0 ranks: it does not know how many there are.
struct Hello {
  int32_t rank;
  int32_t ranks;
  int32_t newcomers;
  int32_t pid;         // as the member sees itself
  int32_t timeout_ms;  // how long it will wait from now; -1: for ever
  HostField host;
};

// What a member is, once all have met.
struct Seat {
  int32_t rank;
  int32_t ranks;
};

// The process in which the service runs.
struct Keeper {
  int32_t rank;  // -1: it is none of the ranks
  int32_t pid;
  HostField host;
};

struct Frame {
  FrameKind kind;
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

// What is said of whoever was at the other end of a connection that broke with this error of the
// system, 0 if it was closed: " has died", or that it cannot be reached.
std::string line_broke(int error);

inline std::string socket_name(const Random128& name) { return "tutti-" + to_hex(name); }

}  // namespace tutti::bootstrap
