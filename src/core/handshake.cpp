// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/handshake.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "core/fields.hpp"

namespace tutti {
namespace {

constexpr uint32_t kMagic = 0x49545554;  // "TUTI"

// The first words of both ends are the same in all protocols, so that ends of different ones can
// say so.
struct Greeting {
  uint32_t magic;
  uint32_t protocol;
  uint32_t version;  // of the library
};
struct Opening {
  Random128 name;
  uint32_t caller;
  SecretKey fresh;  // the public half
};
struct Answer {
  uint32_t magic;
  uint32_t protocol;
  uint32_t refusal;
  uint32_t version;
};
struct Challenge {
  SecretKey fresh;
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

template <typename T>
T read(std::span<const std::byte> message) {
  T value;
  std::memcpy(&value, message.data(), sizeof value);
  return value;
}

// Returns the public half.
SecretKey make_pair(SecretKey& secret) {
  static_assert(sizeof(SecretKey) == crypto_scalarmult_BYTES);
  SecretKey shown;
  randombytes_buf(secret.data(), secret.size());
  crypto_scalarmult_base(raw(shown.data()), raw(secret.data()));
  return shown;
}

bool same(const std::array<std::byte, 32>& one, const std::array<std::byte, 32>& other) {
  return sodium_memcmp(one.data(), other.data(), one.size()) == 0;
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

std::string version_text(uint32_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

Handshake::Handshake(Side side, const Rendezvous& where, uint32_t caller)
    : side_(side),
      stage_(side == Side::kAnswerer ? Stage::kGreeting : Stage::kAnswer),
      where_(where),
      caller_(caller) {
  static const int ready = sodium_init();  // chooses the fastest code for this processor
  (void)ready;
}

Handshake::~Handshake() {
  sodium_memzero(where_.secret.data(), where_.secret.size());
  sodium_memzero(fresh_secret_.data(), fresh_secret_.size());
  sodium_memzero(key_in_.data(), key_in_.size());
  sodium_memzero(key_out_.data(), key_out_.size());
}

size_t Handshake::expects() const {
  switch (stage_) {
    case Stage::kGreeting: return sizeof(Greeting);
    case Stage::kOpening: return sizeof(Opening);
    case Stage::kAnswer: return sizeof(Answer);
    case Stage::kChallenge: return sizeof(Challenge);
    case Stage::kProof: return sizeof(Proof);
    case Stage::kVerdict: return sizeof(Verdict);
    case Stage::kDone:
    case Stage::kRefused: break;
  }
  return 0;
}

Handshake::Message Handshake::begin() {
  return say(Greeting{kMagic, where_.protocol, where_.version},
             Opening{where_.name, caller_, make_pair(fresh_secret_)});
}

Handshake::Message Handshake::hear(std::span<const std::byte> message) {
  switch (stage_) {
    case Stage::kGreeting: return on_greeting(message);
    case Stage::kOpening: return on_opening(message);
    case Stage::kAnswer: on_answer(message); break;
    case Stage::kChallenge: return on_challenge(message);
    case Stage::kProof: return on_proof(message);
    case Stage::kVerdict: on_verdict(message); break;
    case Stage::kDone:
    case Stage::kRefused: break;
  }
  return {};
}

void Handshake::note(std::span<const std::byte> message) {
  transcript_.insert(transcript_.end(), message.begin(), message.end());
}

// All words of both ends before the verdict become part of what both hash.
template <typename Head, typename Rest>
Handshake::Message Handshake::say(const Head& head, const Rest& rest) {
  const auto first = bytes_of(head);
  const auto second = bytes_of(rest);
  Message message(first.size() + second.size());
  std::ranges::copy(second, std::ranges::copy(first, message.begin()).out);
  note(message);
  return message;
}

Handshake::Hash Handshake::keyed(std::string_view purpose, std::span<const std::byte> more) const {
  const std::string text(purpose);
  Hash hash;
  crypto_generichash_state state;
  crypto_generichash_init(&state, raw(where_.secret.data()), where_.secret.size(), hash.size());
  crypto_generichash_update(&state, raw(text.c_str()), text.size() + 1);
  crypto_generichash_update(&state, raw(transcript_.data()), transcript_.size());
  crypto_generichash_update(&state, raw(more.data()), more.size());
  crypto_generichash_final(&state, raw(hash.data()), hash.size());
  return hash;
}

void Handshake::refuse(Refusal why) {
  stage_ = Stage::kRefused;
  refusal_ = why;
}

// The answer to what was heard so far; a refusal has no key.
Handshake::Message Handshake::answer(Refusal why) {
  if (why != Refusal::kNone) refuse(why);
  return say(Answer{kMagic, where_.protocol, static_cast<uint32_t>(why), where_.version},
             Challenge{why == Refusal::kNone ? make_pair(fresh_secret_) : SecretKey{}});
}

// Another protocol goes on in another form.
Handshake::Message Handshake::on_greeting(std::span<const std::byte> message) {
  const auto greeting = read<Greeting>(message);
  // Whoever does not begin like one of ours learns nothing, not even what this is.
  if (greeting.magic != kMagic) return refuse(Refusal::kNonsense), Message{};
  other_ = {greeting.protocol, greeting.version};
  if (greeting.protocol != where_.protocol) return answer(Refusal::kProtocol);
  note(message);
  stage_ = Stage::kOpening;
  return {};
}

Handshake::Message Handshake::on_opening(std::span<const std::byte> message) {
  const auto opening = read<Opening>(message);
  note(message);
  caller_ = opening.caller;
  other_public_ = opening.fresh;
  stage_ = Stage::kProof;
  return answer(opening.name != where_.name ? Refusal::kElsewhere : Refusal::kNone);
}

void Handshake::on_answer(std::span<const std::byte> message) {
  const auto answer = read<Answer>(message);
  if (answer.magic != kMagic || answer.refusal >= kRefusals) return refuse(Refusal::kNonsense);
  other_ = {answer.protocol, answer.version};
  if (answer.refusal != 0) return refuse(static_cast<Refusal>(answer.refusal));
  note(message);
  stage_ = Stage::kChallenge;
}

Handshake::Message Handshake::on_challenge(std::span<const std::byte> message) {
  note(message);
  other_public_ = read<Challenge>(message).fresh;
  stage_ = Stage::kVerdict;
  const Proof own{keyed("tutti caller")};
  const auto proof = bytes_of(own);
  note(proof);
  return {proof.begin(), proof.end()};
}

Handshake::Message Handshake::on_proof(std::span<const std::byte> message) {
  const Hash right = keyed("tutti caller");
  note(message);
  Verdict verdict{0, {}};
  if (same(read<Proof>(message).hash, right)) {
    verdict.hash = keyed("tutti answerer");
    make_keys();
  } else {
    verdict.refusal = static_cast<uint32_t>(Refusal::kSecret);
    refuse(Refusal::kSecret);
  }
  const auto bytes = bytes_of(verdict);
  return {bytes.begin(), bytes.end()};
}

void Handshake::on_verdict(std::span<const std::byte> message) {
  const auto verdict = read<Verdict>(message);
  const bool right = verdict.refusal == 0 && same(verdict.hash, keyed("tutti answerer"));
  if (!right) return refuse(Refusal::kSecret);
  make_keys();
}

void Handshake::make_keys() {
  SecretKey common;
  // Fails for keys that have the same in common with all, which no honest end chooses.
  if (crypto_scalarmult(raw(common.data()), raw(fresh_secret_.data()), raw(other_public_.data())) !=
      0) {
    return refuse(Refusal::kNonsense);
  }
  const SecretKey to_answerer = keyed("tutti from caller to answerer", common);
  const SecretKey to_caller = keyed("tutti from answerer to caller", common);
  key_in_ = side_ == Side::kAnswerer ? to_answerer : to_caller;
  key_out_ = side_ == Side::kAnswerer ? to_caller : to_answerer;
  sodium_memzero(common.data(), common.size());
  sodium_memzero(fresh_secret_.data(), fresh_secret_.size());
  sodium_memzero(where_.secret.data(), where_.secret.size());
  transcript_ = {};
  stage_ = Stage::kDone;
}

}  // namespace tutti
