// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One end of a connection between a member and the service, without the socket: bytes in, frames
// out, bytes to send. First both ends prove to each other that they know the secret of the id
// (core/handshake.hpp). Every frame is then encrypted and authenticated, with its number and its
// length. A frame that others changed, dropped, repeated or inserted ends the session. Until the
// proof is done, nothing that the other end says has a length of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bootstrap/wire.hpp"
#include "core/handshake.hpp"
#include "core/sealing.hpp"
#include "core/socket.hpp"

namespace tutti::bootstrap {

class Session {
 public:
  enum class Side : uint8_t { kMember, kService };
  enum class Got : uint8_t { kFrame, kMore, kRefused };

  // A member's session has something to send at once.
  Session(Side side, const Random128& name, const Random128& secret);

  void append(std::span<const std::byte> bytes);
  // The next frame. kRefused: for good, see refusal(); what is in `out` may still be sent.
  Got next(MeetingFrame& frame);
  // Appends a frame, whose body is the parts one after the other, to what is to be sent. Only once
  // established.
  void put(MeetingFrameKind kind, std::initializer_list<std::span<const std::byte>> parts);

  [[nodiscard]] bool established() const { return proved() && !refused(); }
  // Frames may be put, even if what comes makes no sense any more.
  [[nodiscard]] bool proved() const { return handshake_.done(); }
  [[nodiscard]] Refusal refusal() const { return refusal_; }
  // "Tutti 1.2.0, which speaks protocol 17": what the other end is, once it has said so.
  [[nodiscard]] std::string other() const;
  // The number of bytes that the next frame still lacks, as far as known.
  [[nodiscard]] size_t wants() const;
  // The bytes to be sent; the sender erases what it has sent.
  std::vector<std::byte>& out() { return out_; }
  [[nodiscard]] const std::vector<std::byte>& out() const { return out_; }

 private:
  [[nodiscard]] bool refused() const { return refusal_ != Refusal::kNone; }
  [[nodiscard]] size_t expected() const;
  Got prove();
  Got refuse(Refusal why);

  Handshake handshake_;
  Refusal refusal_ = Refusal::kNone;
  std::vector<std::byte> received_;
  size_t unread_from_ = 0;  // beginning of what was not yet taken from received_
  std::vector<std::byte> out_;
  Sealing incoming_;
  Sealing outgoing_;
};

}  // namespace tutti::bootstrap
