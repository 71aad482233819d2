// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One direction of a connection that others may read and change: records, each encrypted and
// authenticated (ChaCha20-Poly1305) under its number. One that was changed, repeated, put elsewhere
// or follows one that was left out does not open.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tutti {

using SecretKey = std::array<std::byte, 32>;
inline constexpr size_t kSealBytes = 16;

class Sealing {
 public:
  Sealing() = default;
  // A key is good for one direction of one connection.
  explicit Sealing(const SecretKey& key) : key_(key) {}

  // Encrypts `text` to `to`, which may be where it lies, and appends its seal, which covers the
  // head, too; that goes in the clear.
  void seal(std::span<const std::byte> head, std::span<const std::byte> text, std::byte* to);
  // The inverse, of a text that its seal follows; false if it is not the next record.
  [[nodiscard]] bool open(std::span<const std::byte> head, std::span<const std::byte> sealed,
                          std::byte* to);

 private:
  SecretKey key_{};
  uint64_t records_ = 0;
};

}  // namespace tutti
