// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The content of a tutti_unique_id: where the ranks of a new communicator meet, and the secret that
// lets them in.
#pragma once

#include <tutti/tutti.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/network.hpp"
#include "core/socket.hpp"
#include "core/status.hpp"

namespace tutti {

struct UniqueId {
  Random128 name{};    // of the abstract socket, and of the meeting to those who come over TCP
  Random128 secret{};  // shown to nobody: each side proves to the other that it knows it
  int maker_pid = 0;   // process that made the id, for texts; 0 if a job's key gave the id
  std::string maker_host;
  NetAddress address;  // where ranks of other hosts find the service; not known: nowhere
  // The socket that keeps the port until the service starts, in the process that made the id.
  std::shared_ptr<Fd> listener;

  // E.g. "made by pid 12 on host a, at 10.1.2.3:4711".
  [[nodiscard]] std::string describe() const;
};

// A fresh one, made by this process, to start the service of. Its address belongs to the interface
// that CCL_KVS_IFACE and CCL_KVS_PREFER_IPV6 choose (core/interfaces.hpp). If there is none but the
// loopback, only ranks of this host can use the id.
Result<UniqueId> make_unique_id();
// The id that all processes derive which know `key`: for ranks that a launcher has numbered, but
// has not connected. It is as secret as the key. Without an address it is for ranks of one host,
// where the service lets only processes of its own user meet. With one (its port is not 0), rank 0
// serves there: start_service() listens at this address. Many a hosts file gives the own name an
// address of 127.*.*.* other than 127.0.0.1. For such an address, or one that is not this host's,
// the service listens at the same port of the interface chosen as above. Ids of several
// communicators may share an address: a service listens only until its ranks have met, and the next
// waits for that.
UniqueId derive_unique_id(std::string_view key, const NetAddress& address = {});

tutti_unique_id encode(const UniqueId& id);
// Refuses bytes that no tutti_get_unique_id made.
Result<UniqueId> decode(const tutti_unique_id& id);

}  // namespace tutti
