// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One end of a connection between a member and the service, without the socket: bytes in, frames
// out, bytes to send. Both ends first prove to each other that they know the secret of the id:
//
//   member  -> service   Opening: which meeting, and a nonce
//   service -> member    Challenge: its own nonce, or a refusal
//   member  -> service   a keyed hash over both
//   service -> member    a verdict, and a keyed hash over all before
//
// From secret and nonces each direction then has a key, with which every frame and its number are
// hashed: what was changed, left out, repeated or put in by others ends the session. Nothing is
// encrypted. Until the proof is done, nothing that the other end says has a length of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bootstrap/wire.hpp"
#include "core/socket.hpp"

namespace tutti::bootstrap {

// Why a session ended, on the service's side before the other end was trusted.
enum class Refusal : uint8_t {
  kNone = 0,
  kNonsense,   // no peer of ours, or a frame that was tampered with
  kProtocol,   // another protocol
  kElsewhere,  // another meeting
  kSecret,     // the right meeting, but another secret
};
inline constexpr size_t kRefusals = 5;
std::string_view refusal_text(Refusal refusal);

class Session {
 public:
  enum class Side : uint8_t { kMember, kService };
  enum class Got : uint8_t { kFrame, kMore, kRefused };

  // A member's session has something to send at once.
  Session(Side side, const Random128& name, const Random128& secret);

  void append(std::span<const std::byte> bytes);
  // The next frame. kRefused: for good, see refusal(); what is in `out` may still be sent.
  Got next(Frame& frame);
  // Appends a frame, whose body is the parts one after the other, to what is to be sent. Only once
  // established.
  void put(FrameKind kind, std::initializer_list<std::span<const std::byte>> parts);

  [[nodiscard]] bool established() const { return stage_ == Stage::kEstablished; }
  [[nodiscard]] Refusal refusal() const { return refusal_; }
  // How many bytes the next frame still lacks, as far as known.
  [[nodiscard]] size_t wants() const;
  // What is to be sent; the sender erases what it has sent.
  std::vector<std::byte>& out() { return out_; }
  [[nodiscard]] const std::vector<std::byte>& out() const { return out_; }

 private:
  enum class Stage : uint8_t { kOpening, kChallenge, kProof, kVerdict, kEstablished, kRefused };
  using Hash = std::array<std::byte, 32>;

  Got handshake();
  Got refuse(Refusal why);
  void on_opening();
  void on_challenge();
  void on_proof();
  void on_verdict();
  void establish();
  [[nodiscard]] size_t expected() const;
  [[nodiscard]] Hash keyed(const char* purpose) const;
  template <typename T>
  T consume();
  template <typename T>
  void say(const T& message);

  const Side side_;
  Stage stage_;
  Refusal refusal_ = Refusal::kNone;
  const Random128 name_;
  Random128 secret_;  // erased when established
  std::vector<std::byte> transcript_;
  std::vector<std::byte> in_;
  size_t begin_ = 0;  // of what was not yet taken from in_
  std::vector<std::byte> out_;
  Hash key_in_{};
  Hash key_out_{};
  uint64_t frames_in_ = 0;
  uint64_t frames_out_ = 0;
};

}  // namespace tutti::bootstrap
