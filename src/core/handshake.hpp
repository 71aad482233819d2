// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How two ends of a connection that share a secret come to keys that nobody else has, without the
// socket: messages in, messages out. Each of them has a size known beforehand.
//
//   caller   -> answerer   Greeting: protocol and version
//                          Opening: where it wants to, who it is, a fresh public key (X25519)
//   answerer -> caller     Answer: protocol and version, or a refusal
//                          Challenge: a fresh public key of its own
//   caller   -> answerer   Proof: a hash over both, keyed with the secret
//   answerer -> caller     Verdict: whether that was right, and a keyed hash over all before
//
// Each direction then has a key derived from the secret, from what the two fresh keys have in
// common, and from all that was said. Whoever records a connection and learns the secret later
// cannot read it.
#pragma once

#include <tutti/version.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/sealing.hpp"
#include "core/socket.hpp"

namespace tutti {

// Why a handshake failed, on the answerer's side before the other end was trusted.
enum class Refusal : uint8_t {
  kNone = 0,
  kNonsense,   // no peer of ours, or a record that was tampered with
  kProtocol,   // the peer speaks another protocol
  kElsewhere,  // the peer means another place
  kSecret,     // the right place, but another secret
};
inline constexpr size_t kRefusals = 5;
std::string_view refusal_text(Refusal refusal);
// "1.2.3", of what TUTTI_VERSION is.
std::string version_text(uint32_t version);

// The meeting that both ends want, and the knowledge that they must prove.
struct Rendezvous {
  uint32_t protocol;
  Random128 name;
  Random128 secret;
  uint32_t version = TUTTI_VERSION;
};

class Handshake {
 public:
  enum class Side : uint8_t { kCaller, kAnswerer };
  using Message = std::vector<std::byte>;

  // `caller`: who the caller says that it is.
  Handshake(Side side, const Rendezvous& where, uint32_t caller = 0);
  ~Handshake();
  Handshake(const Handshake&) = default;
  Handshake& operator=(const Handshake&) = default;

  // The first message of a caller.
  [[nodiscard]] Message begin();
  // The size of the other end's next message; 0: nothing more is to come.
  [[nodiscard]] size_t expects() const;
  // Takes that message; returns the answer, empty if there is none. A refusal may have an answer.
  [[nodiscard]] Message hear(std::span<const std::byte> message);

  [[nodiscard]] bool done() const { return stage_ == Stage::kDone; }
  [[nodiscard]] Refusal refusal() const { return refusal_; }
  // The protocol and role that the other end claims; zeros before that.
  struct Other {
    uint32_t protocol;
    uint32_t version;
  };
  [[nodiscard]] const Other& other() const { return other_; }
  // Proved to be of one who knows the secret once done().
  [[nodiscard]] uint32_t caller() const { return caller_; }
  // The seals of incoming and outgoing data; once done(), and for one user.
  [[nodiscard]] Sealing incoming() const { return Sealing(key_in_); }
  [[nodiscard]] Sealing outgoing() const { return Sealing(key_out_); }

 private:
  enum class Stage : uint8_t {
    kGreeting,
    kOpening,
    kAnswer,
    kChallenge,
    kProof,
    kVerdict,
    kDone,
    kRefused
  };
  using Hash = std::array<std::byte, 32>;

  void refuse(Refusal why);
  Message answer(Refusal why);
  Message on_greeting(std::span<const std::byte> message);
  Message on_opening(std::span<const std::byte> message);
  void on_answer(std::span<const std::byte> message);
  Message on_challenge(std::span<const std::byte> message);
  Message on_proof(std::span<const std::byte> message);
  void on_verdict(std::span<const std::byte> message);
  void make_keys();
  [[nodiscard]] Hash keyed(std::string_view purpose, std::span<const std::byte> more = {}) const;
  void note(std::span<const std::byte> message);
  template <typename Head, typename Rest>
  Message say(const Head& head, const Rest& rest);

  Side side_;
  Stage stage_;
  Refusal refusal_ = Refusal::kNone;
  Rendezvous where_;
  uint32_t caller_;
  Other other_{};
  std::vector<std::byte> transcript_;  // messages that both ends hash
  SecretKey fresh_secret_{};           // erased, as that of where_, when there are keys
  SecretKey other_public_{};
  SecretKey key_in_{};
  SecretKey key_out_{};
};

}  // namespace tutti
