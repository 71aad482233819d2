// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the ranks tell one another first: settings on which all must agree, and the cores they may
// use, from which each works out how long waiting threads spin, and the caches that they share.
#pragma once

#include "core/exchange.hpp"
#include "core/hosts.hpp"
#include "env/env.hpp"

namespace tutti {

struct Agreement {
  // By the ranks' marks. Whether the ranks of a host can share memory is found out later.
  Hosts hosts;
  std::vector<int> cache_domains;  // by rank; kNoCacheDomain: not known
  int cores = 1;                   // that the ranks of this host may use together
  uint64_t key = 0;                // of rank 0's choosing: the same on all, and no other's
};

// 64 bits that nobody can guess; 0 if the system has none to give.
uint64_t random_key();

// What processes that can share memory have in common: the running system, the network namespace,
// and TUTTI_HOST_ID.
uint64_t host_mark(const Environment& environment);

// Collective. An error names the variable that differs, and both values.
Result<Agreement> agree(Exchange& exchange, const Environment& environment, bool strict);

}  // namespace tutti
