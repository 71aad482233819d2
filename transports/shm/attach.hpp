// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The meeting at which the ranks of one host come to share a region. Rank 0 makes it and hands its
// descriptor over a socket, together with a pidfd of every rank's process. That a peer is on the
// same host is proved by its being able to connect and to find the nonce in the region.
#pragma once

#include <optional>
#include <vector>

#include "core/exchange.hpp"
#include "core/shared_pidfd.hpp"
#include "transports/shm/inspector_fd.hpp"
#include "transports/shm/layout.hpp"
#include "transports/shm/region.hpp"
#include "transports/transport.hpp"

namespace tutti::shm {

struct Attached {
  Attached(std::optional<Region> shared, std::vector<PeerProcess> others)
      : region(std::move(shared)), processes(std::move(others)), pidfds(processes.size()) {}
  void keep(size_t rank, SharedPidfd pidfd) {
    processes[rank].pidfd = pidfd != nullptr ? pidfd->get() : -1;
    pidfds[rank] = std::move(pidfd);
  }

  std::optional<Region> region;        // set once all is well
  std::vector<PeerProcess> processes;  // by rank
  std::vector<SharedPidfd> pidfds;     // of `processes`
  InspectorFd inspector_fd = {};       // rank 0's descriptor for inspectors
};

// Collective: succeeds on all ranks or gives all the same first error; kUnsupported where a sandbox
// keeps ranks apart.
Result<Attached> attach(Exchange& exchange, const Layout& layout, int64_t deadline_ms);

}  // namespace tutti::shm
