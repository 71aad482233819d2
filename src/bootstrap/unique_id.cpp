// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/unique_id.hpp"

#include <unistd.h>

#include <cstring>

namespace tutti {
namespace {

constexpr char kMagic[8] = {'T', 'U', 'T', 'T', 'I', '-', 'I', 'D'};
constexpr uint16_t kFormat = 1;

struct Encoded {
  char magic[8];
  uint16_t format;
  uint16_t kind;
  uint32_t version;  // of the library that made it
  Random128 name;
  Random128 secret;
  int32_t maker_pid;
  char maker_host[48];
  unsigned char address[20];  // family, port and address of kinds to come; zero
  uint64_t checksum;          // of all before
};
static_assert(sizeof(Encoded) == sizeof(tutti_unique_id));

// FNV-1a, 64 bits: tells damage and garbage, not malice.
uint64_t hash(std::span<const std::byte> bytes, uint64_t seed = 0xcbf29ce484222325ull) {
  for (const std::byte byte : bytes) seed = (seed ^ static_cast<uint64_t>(byte)) * 0x100000001b3ull;
  return seed;
}

uint64_t checksum_of(const Encoded& encoded) {
  return hash(std::as_bytes(std::span(&encoded, 1)).first(offsetof(Encoded, checksum)));
}

Random128 hash_128(std::string_view purpose, std::string_view key) {
  Random128 bits;
  for (size_t half = 0; half < 2; ++half) {
    uint64_t value = hash(std::as_bytes(std::span(purpose)), 0xcbf29ce484222325ull + half);
    value = hash(std::as_bytes(std::span(key)), value);
    std::memcpy(bits.data() + half * sizeof value, &value, sizeof value);
  }
  return bits;
}

}  // namespace

std::string UniqueId::describe() const {
  if (maker_pid == 0) return "derived from the job's key";
  return fmt::format("made by pid {} on host {}", maker_pid, maker_host);
}

Result<UniqueId> make_unique_id() {
  auto name = random_128();
  if (!name.ok()) return name.status();
  auto secret = random_128();
  if (!secret.ok()) return secret.status();
  return UniqueId{MeetingKind::kAbstractSocket, *name, *secret, getpid(), host_name()};
}

UniqueId derive_unique_id(std::string_view key) {
  return {MeetingKind::kAbstractSocket, hash_128("name", key), hash_128("secret", key), 0, ""};
}

tutti_unique_id encode(const UniqueId& id) {
  Encoded encoded{};
  std::memcpy(encoded.magic, kMagic, sizeof kMagic);
  encoded.format = kFormat;
  encoded.kind = static_cast<uint16_t>(id.kind);
  encoded.version = TUTTI_VERSION;
  encoded.name = id.name;
  encoded.secret = id.secret;
  encoded.maker_pid = id.maker_pid;
  id.maker_host.copy(encoded.maker_host, sizeof encoded.maker_host - 1);
  encoded.checksum = checksum_of(encoded);
  tutti_unique_id bytes;
  std::memcpy(bytes.bytes, &encoded, sizeof encoded);
  return bytes;
}

Result<UniqueId> decode(const tutti_unique_id& bytes) {
  Encoded encoded;
  std::memcpy(&encoded, bytes.bytes, sizeof encoded);
  if (std::memcmp(encoded.magic, kMagic, sizeof kMagic) != 0) {
    return Status(
        Code::kInvalidArgument,
        "these bytes are not a Tutti id: pass what tutti_get_unique_id gave, all 128 bytes");
  }
  if (encoded.format != kFormat) {
    return Status::format(
        Code::kInvalidArgument,
        "the id has format {} (Tutti {}.{}.{} made it), this Tutti reads format {}", encoded.format,
        encoded.version / 10000, encoded.version / 100 % 100, encoded.version % 100, kFormat);
  }
  if (encoded.checksum != checksum_of(encoded)) {
    return Status(Code::kInvalidArgument,
                  "the Tutti id is damaged: its checksum is wrong; pass all of its 128 bytes");
  }
  if (encoded.kind != static_cast<uint16_t>(MeetingKind::kAbstractSocket)) {
    return Status::format(Code::kUnsupported,
                          "the id names a meeting place of kind {}, unknown here", encoded.kind);
  }
  return UniqueId{
      MeetingKind::kAbstractSocket, encoded.name, encoded.secret, encoded.maker_pid,
      std::string(encoded.maker_host, strnlen(encoded.maker_host, sizeof encoded.maker_host))};
}

}  // namespace tutti
