// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/unique_id.hpp"

#include <sodium.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "bootstrap/service_address.hpp"
#include "core/handshake.hpp"
#include "core/hash.hpp"

namespace tutti {
namespace {

constexpr char kMagic[8] = {'T', 'U', 'T', 'T', 'I', '-', 'I', 'D'};
constexpr uint16_t kFormat = 2;

struct Encoded {
  char magic[8];
  uint16_t format;
  uint16_t family;   // of the address
  uint32_t version;  // of the library that made the id
  Random128 name;
  Random128 secret;
  int32_t maker_pid;
  char maker_host[48];
  uint16_t port;
  std::array<std::byte, 16> host;
  uint16_t unused;    // zero
  uint64_t checksum;  // of all fields before
};
static_assert(sizeof(Encoded) == sizeof(tutti_unique_id));

// Tells damage and garbage, not malice.
uint64_t checksum_of(const Encoded& encoded) {
  return hash_of({reinterpret_cast<const char*>(&encoded), offsetof(Encoded, checksum)});
}

// The purpose and its closing zero keep names and secrets of one key apart.
Random128 hash_128(const char* purpose, std::string_view key) {
  Random128 bits;
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, bits.size());
  crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(purpose),
                            std::strlen(purpose) + 1);
  crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(key.data()), key.size());
  crypto_generichash_final(&state, reinterpret_cast<unsigned char*>(bits.data()), bits.size());
  return bits;
}

}  // namespace

std::string UniqueId::describe() const {
  const std::string maker = maker_pid == 0
                                ? "derived from the job's key"
                                : fmt::format("made by pid {} on host {}", maker_pid, maker_host);
  return address.known() ? fmt::format("{}, at {}", maker, address.text()) : maker;
}

Result<UniqueId> make_unique_id() {
  TUTTI_ASSIGN_OR_RETURN(auto name, random_128());
  TUTTI_ASSIGN_OR_RETURN(auto secret, random_128());
  UniqueId id{name, secret, getpid(), host_name(), {}, {}};
  TUTTI_RETURN_IF_ERROR(bootstrap::give_address(id));
  return id;
}

UniqueId derive_unique_id(std::string_view key, const NetAddress& address) {
  return {hash_128("tutti meeting name", key),
          hash_128("tutti meeting secret", key),
          0,
          "",
          address,
          {}};
}

tutti_unique_id encode(const UniqueId& id) {
  Encoded encoded{};
  std::memcpy(encoded.magic, kMagic, sizeof kMagic);
  encoded.format = kFormat;
  encoded.family = static_cast<uint16_t>(id.address.family);
  encoded.version = TUTTI_VERSION;
  encoded.name = id.name;
  encoded.secret = id.secret;
  encoded.maker_pid = id.maker_pid;
  id.maker_host.copy(encoded.maker_host, sizeof encoded.maker_host - 1);
  encoded.port = id.address.port;
  encoded.host = id.address.host;
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
        "the id has format {} (Tutti {} made it), this is Tutti {}, which reads format {}",
        encoded.format, version_text(encoded.version), version_text(TUTTI_VERSION), kFormat);
  }
  if (encoded.checksum != checksum_of(encoded)) {
    return Status(Code::kInvalidArgument,
                  "the Tutti id is damaged: its checksum is wrong; pass all of its 128 bytes");
  }
  using Family = NetAddress::Family;
  const auto family = static_cast<Family>(encoded.family);
  if (family != Family::kNone && family != Family::kIpv4 && family != Family::kIpv6) {
    return Status::format(Code::kUnsupported,
                          "the id names an address of family {}, expected 4 (IPv4), 6 (IPv6) or 0",
                          encoded.family);
  }
  return UniqueId{
      encoded.name,
      encoded.secret,
      encoded.maker_pid,
      std::string(encoded.maker_host, strnlen(encoded.maker_host, sizeof encoded.maker_host)),
      {family, encoded.port, encoded.host},
      {}};
}

}  // namespace tutti
