// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/session.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstring>

namespace tutti::bootstrap {
namespace {

constexpr uint32_t kMagic = 0x49545554;  // "TUTI"

using Nonce = std::array<std::byte, 32>;
using Tag = std::array<std::byte, 16>;  // of a frame

struct Opening {
  uint32_t magic;
  uint32_t protocol;
  Random128 name;
  Nonce nonce;
};
struct Challenge {
  uint32_t magic;
  uint32_t protocol;
  uint32_t refusal;
  Nonce nonce;
};
struct Proof {
  std::array<std::byte, 32> hash;
};
struct Verdict {
  uint32_t refusal;
  std::array<std::byte, 32> hash;
};

unsigned char* raw(void* bytes) { return static_cast<unsigned char*>(bytes); }
const unsigned char* raw(const void* bytes) { return static_cast<const unsigned char*>(bytes); }

Nonce fresh_nonce() {
  Nonce nonce;
  randombytes_buf(nonce.data(), nonce.size());
  return nonce;
}

bool same(const std::array<std::byte, 32>& one, const std::array<std::byte, 32>& other) {
  return sodium_memcmp(one.data(), other.data(), one.size()) == 0;
}

// Over the frame's number, too, so that each is good for one place in the stream.
Tag tag_of(const std::array<std::byte, 32>& key, uint64_t number,
           std::span<const std::byte> frame) {
  Tag tag;
  crypto_generichash_state state;
  crypto_generichash_init(&state, raw(key.data()), key.size(), tag.size());
  crypto_generichash_update(&state, raw(&number), sizeof number);
  crypto_generichash_update(&state, raw(frame.data()), frame.size());
  crypto_generichash_final(&state, raw(tag.data()), tag.size());
  return tag;
}

}  // namespace

std::string_view refusal_text(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNone: return "none";
    case Refusal::kNonsense: return "nonsense";
    case Refusal::kProtocol: return "another protocol";
    case Refusal::kElsewhere: return "another meeting";
    case Refusal::kSecret: return "a wrong secret";
  }
  return "unknown";
}

Session::Session(Side side, const Random128& name, const Random128& secret)
    : side_(side),
      stage_(side == Side::kService ? Stage::kOpening : Stage::kChallenge),
      name_(name),
      secret_(secret) {
  static const int ready = sodium_init();  // chooses the fastest code for this processor
  (void)ready;
  if (side == Side::kMember) say(Opening{kMagic, kProtocol, name, fresh_nonce()});
}

void Session::append(std::span<const std::byte> bytes) {
  if (stage_ == Stage::kRefused) return;
  in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
  in_.insert(in_.end(), bytes.begin(), bytes.end());
}

size_t Session::expected() const {
  switch (stage_) {
    case Stage::kOpening: return sizeof(Opening);
    case Stage::kChallenge: return sizeof(Challenge);
    case Stage::kProof: return sizeof(Proof);
    case Stage::kVerdict: return sizeof(Verdict);
    case Stage::kEstablished: {
      uint32_t length = 0;
      if (in_.size() - begin_ < sizeof length) return sizeof length;
      std::memcpy(&length, in_.data() + begin_, sizeof length);
      return sizeof length + length + sizeof(Tag);
    }
    case Stage::kRefused: break;
  }
  return 0;
}

size_t Session::wants() const {
  const size_t have = in_.size() - begin_;
  return expected() > have ? expected() - have : 0;
}

// ---- proving -----------------------------------------------------------------------------------

template <typename T>
T Session::consume() {
  T message;
  std::memcpy(&message, in_.data() + begin_, sizeof message);
  begin_ += sizeof message;
  return message;
}

// What both ends say before the verdict becomes part of what both hash.
template <typename T>
void Session::say(const T& message) {
  const auto bytes = bytes_of(message);
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  transcript_.insert(transcript_.end(), bytes.begin(), bytes.end());
}

Session::Hash Session::keyed(const char* purpose) const {
  Hash hash;
  crypto_generichash_state state;
  crypto_generichash_init(&state, raw(secret_.data()), secret_.size(), hash.size());
  crypto_generichash_update(&state, raw(purpose), std::strlen(purpose) + 1);
  crypto_generichash_update(&state, raw(transcript_.data()), transcript_.size());
  crypto_generichash_final(&state, raw(hash.data()), hash.size());
  return hash;
}

Session::Got Session::refuse(Refusal why) {
  stage_ = Stage::kRefused;
  refusal_ = why;
  return Got::kRefused;
}

Session::Got Session::handshake() {
  switch (stage_) {
    case Stage::kOpening: on_opening(); break;
    case Stage::kChallenge: on_challenge(); break;
    case Stage::kProof: on_proof(); break;
    case Stage::kVerdict: on_verdict(); break;
    case Stage::kEstablished:
    case Stage::kRefused: break;
  }
  return stage_ == Stage::kRefused ? Got::kRefused : Got::kMore;
}

void Session::on_opening() {
  const auto opening = consume<Opening>();
  // Whoever does not begin like one of ours learns nothing, not even what this is.
  if (opening.magic != kMagic) return (void)refuse(Refusal::kNonsense);
  const Refusal why = opening.protocol != kProtocol ? Refusal::kProtocol
                      : opening.name != name_       ? Refusal::kElsewhere
                                                    : Refusal::kNone;
  const auto bytes = bytes_of(opening);
  transcript_.assign(bytes.begin(), bytes.end());
  say(Challenge{kMagic, kProtocol, static_cast<uint32_t>(why), fresh_nonce()});
  if (why != Refusal::kNone) return (void)refuse(why);
  stage_ = Stage::kProof;
}

void Session::on_challenge() {
  const auto challenge = consume<Challenge>();
  if (challenge.magic != kMagic || challenge.refusal >= kRefusals) {
    return (void)refuse(Refusal::kNonsense);
  }
  if (challenge.refusal != 0) return (void)refuse(static_cast<Refusal>(challenge.refusal));
  const auto bytes = bytes_of(challenge);
  transcript_.insert(transcript_.end(), bytes.begin(), bytes.end());
  say(Proof{keyed("tutti member")});
  stage_ = Stage::kVerdict;
}

void Session::on_proof() {
  const Hash right = keyed("tutti member");
  const auto proof = consume<Proof>();
  const auto bytes = bytes_of(proof);
  transcript_.insert(transcript_.end(), bytes.begin(), bytes.end());
  if (!same(proof.hash, right)) {
    say(Verdict{static_cast<uint32_t>(Refusal::kSecret), {}});
    return (void)refuse(Refusal::kSecret);
  }
  const Verdict verdict{0, keyed("tutti service")};
  const auto said = bytes_of(verdict);
  out_.insert(out_.end(), said.begin(), said.end());
  establish();
}

void Session::on_verdict() {
  const Hash right = keyed("tutti service");
  const auto verdict = consume<Verdict>();
  if (verdict.refusal != 0) return (void)refuse(Refusal::kSecret);
  if (!same(verdict.hash, right)) return (void)refuse(Refusal::kSecret);
  establish();
}

void Session::establish() {
  const Hash to_service = keyed("tutti from member to service");
  const Hash to_member = keyed("tutti from service to member");
  key_in_ = side_ == Side::kService ? to_service : to_member;
  key_out_ = side_ == Side::kService ? to_member : to_service;
  sodium_memzero(secret_.data(), secret_.size());
  transcript_ = {};
  stage_ = Stage::kEstablished;
}

// ---- frames ------------------------------------------------------------------------------------

Session::Got Session::next(Frame& frame) {
  while (stage_ != Stage::kEstablished) {
    if (stage_ == Stage::kRefused) return Got::kRefused;
    if (in_.size() - begin_ < expected()) return Got::kMore;
    if (handshake() == Got::kRefused) return Got::kRefused;
  }
  uint32_t length = 0;
  if (in_.size() - begin_ < sizeof length) return Got::kMore;
  std::memcpy(&length, in_.data() + begin_, sizeof length);
  if (length == 0 || length > kMaxFrameBytes) return refuse(Refusal::kNonsense);
  if (in_.size() - begin_ < expected()) return Got::kMore;
  const std::span<const std::byte> all(in_.data() + begin_, sizeof length + length);
  const Tag right = tag_of(key_in_, frames_in_, all);
  if (sodium_memcmp(right.data(), all.data() + all.size(), right.size()) != 0) {
    return refuse(Refusal::kNonsense);
  }
  ++frames_in_;
  begin_ += all.size() + sizeof(Tag);
  frame = {static_cast<FrameKind>(all[sizeof length]), all.subspan(sizeof length + 1)};
  return Got::kFrame;
}

void Session::put(FrameKind kind, std::initializer_list<std::span<const std::byte>> parts) {
  uint32_t length = 1;
  for (const auto& part : parts) length += static_cast<uint32_t>(part.size());
  const size_t start = out_.size();
  const auto head = bytes_of(length);
  out_.insert(out_.end(), head.begin(), head.end());
  out_.push_back(static_cast<std::byte>(kind));
  for (const auto& part : parts) out_.insert(out_.end(), part.begin(), part.end());
  const Tag tag = tag_of(key_out_, frames_out_++, std::span(out_).subspan(start));
  out_.insert(out_.end(), tag.begin(), tag.end());
}

}  // namespace tutti::bootstrap
