// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How one who looks at a job from one host learns of its ranks on others. It connects to a socket
// of a rank's process here (abstract, of this user). That process asks the other ranks of its
// communicators over their control connections (comm/inquiries.hpp). On each host the lowest rank
// of a communicator that is able to answers with a page (inspect/page.hpp) for each rank there.
//
// Packets on the socket: kAsk; then kRoster, of whom is asked, and as it comes kPage and kDone.
// Over a line: kAsk; then kPage and kDone.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "core/socket.hpp"

namespace tutti::inspect {

enum class InquiryKind : uint32_t { kAsk = 1, kRoster, kPage, kDone };

// The head of every packet.
struct InquiryHead {
  uint32_t magic = kMagic;
  InquiryKind kind = InquiryKind::kAsk;
  uint64_t token = 0;  // of the question
  // kAsk: how many calls of each rank to tell of.
  uint64_t calls = 0;
  // kPage and kDone on the socket: when the question left and when this came, on the monotonic
  // clock of the host where both are. kDone: from which rank of which communicator.
  int64_t asked_ns = 0;
  int64_t came_ns = 0;
  uint64_t key = 0;
  int64_t rank = 0;

  static constexpr uint32_t kMagic = 0x3179'6877;
};

// A rank that is asked; several follow the head of kRoster.
struct RosterEntry {
  uint64_t key = 0;
  int32_t rank = 0;
  int32_t pid = 0;        // number that the process calls itself
  int64_t silent_ms = 0;  // since it has told anything, or since the communicator was made
  uint32_t left = 0;      // it has destroyed the communicator
  uint32_t reserved = 0;
  char host[64] = {};
};
inline constexpr size_t kMostRosterEntries = 64;  // limit on the entries of a packet

inline std::string inquiry_socket(uint64_t number) {
  Random128 bits{};
  std::memcpy(bits.data(), &number, sizeof number);
  return "tutti-why-" + to_hex(bits).substr(0, 2 * sizeof number);
}

}  // namespace tutti::inspect
