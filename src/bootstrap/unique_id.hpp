// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a tutti_unique_id says: where the ranks of a communicator to be meet, and the secret that
// lets them in.
#pragma once

#include <tutti/tutti.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/socket.hpp"
#include "core/status.hpp"

namespace tutti {

// Where the service listens. The bytes of an id have room for an address, for kinds to come.
enum class MeetingKind : uint16_t { kAbstractSocket = 1 };

struct UniqueId {
  MeetingKind kind = MeetingKind::kAbstractSocket;
  Random128 name{};  // of the socket
  Random128 secret{};
  int maker_pid = 0;  // for texts; 0 if the id was derived from a job's key
  std::string maker_host;

  // E.g. "made by pid 12 on host a".
  [[nodiscard]] std::string describe() const;
};

// A fresh one, made by this process.
Result<UniqueId> make_unique_id();
// The one that all who know `key` derive; for ranks whom a launcher has told apart but not joined.
// Not secret: that only processes of the same user meet there is seen to by the service.
UniqueId derive_unique_id(std::string_view key);

tutti_unique_id encode(const UniqueId& id);
// Refuses bytes that no tutti_get_unique_id made.
Result<UniqueId> decode(const tutti_unique_id& id);

}  // namespace tutti
