// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The comparison of what ranks are about to do on their devices, before a call on views.
#pragma once

#include <vector>

#include "comm/communicator.hpp"
#include "exec/call.hpp"

namespace tutti {

// The first words of each rank about a call; more may follow.
struct CallSummary {
  explicit CallSummary(const Call& call)
      : record(record_of(call, 0, digest_of(call))), signature(signature_of(call)) {}
  CallSummary() = default;

  CallRecord record{};
  uint32_t signature = 0;
};

// The host's call by which each rank's `own` comes to `all`, which has an entry for each rank. Both
// stay where they are until it is over.
template <typename Summary>
Call agreement_call(Collective collective, const Summary& own, std::vector<Summary>& all) {
  Call tell;
  tell.collective = Collective::kAllgather;
  tell.purpose = agreement_on(collective);
  tell.count = sizeof own;
  tell.send = &own;
  tell.recv = all.data();
  return tell;
}

// An error if any rank makes another call than this one.
template <typename Summary>
Status compare(Communicator& comm, const std::vector<Summary>& all) {
  const CallSummary& own = all[static_cast<size_t>(comm.rank())];
  for (int peer = 0; peer < comm.ranks(); ++peer) {
    const CallSummary& theirs = all[static_cast<size_t>(peer)];
    if (!differ(own.record, theirs.record) && own.signature == theirs.signature) continue;
    const auto name = [&](int rank) { return comm.name_of(rank); };
    return mismatch(name(comm.rank()), own.record, name(peer), theirs.record);
  }
  return {};
}

}  // namespace tutti
