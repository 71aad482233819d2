// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/sealing.hpp"

#include <sodium.h>

#include <cstring>

namespace tutti {
namespace {

static_assert(sizeof(SecretKey) == crypto_aead_chacha20poly1305_ietf_KEYBYTES);
static_assert(kSealBytes == crypto_aead_chacha20poly1305_ietf_ABYTES);

using Nonce = std::array<unsigned char, crypto_aead_chacha20poly1305_ietf_NPUBBYTES>;

Nonce nonce_of(uint64_t number) {
  Nonce nonce{};
  std::memcpy(nonce.data(), &number, sizeof number);
  return nonce;
}

unsigned char* raw(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

}  // namespace

void Sealing::seal(std::span<const std::byte> head, std::span<const std::byte> text,
                   std::byte* to) {
  const Nonce nonce = nonce_of(records_++);
  crypto_aead_chacha20poly1305_ietf_encrypt_detached(
      raw(to), raw(to + text.size()), nullptr, raw(text.data()), text.size(), raw(head.data()),
      head.size(), nullptr, nonce.data(), raw(key_.data()));
}

bool Sealing::open(std::span<const std::byte> head, std::span<const std::byte> sealed,
                   std::byte* to) {
  if (sealed.size() < kSealBytes) return false;
  const size_t bytes = sealed.size() - kSealBytes;
  const Nonce nonce = nonce_of(records_++);
  return crypto_aead_chacha20poly1305_ietf_decrypt_detached(
             raw(to), nullptr, raw(sealed.data()), bytes, raw(sealed.data() + bytes),
             raw(head.data()), head.size(), nonce.data(), raw(key_.data())) == 0;
}

}  // namespace tutti
