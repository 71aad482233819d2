// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Hierarchical barrier: within each host, among the first ranks of the hosts, within each host.
// T = 2 sigma + log2(H) alpha.
#include "algorithms/hierarchical.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return 2 * host_sync_s(q, m) + rounds_of(q.hosts->count()) * m.message_s;
}

Composition compose(const Problem& q) {
  Composer c(q);
  const uint32_t arrived = c.add({.collective = Collective::kBarrier});
  const bool leads = c.place() == 0;
  if (leads) {
    c.add({.scope = Scope::kColumn, .collective = Collective::kBarrier, .after = arrived});
  }
  c.add({.collective = Collective::kBarrier, .after = leads ? 1u : 0u});
  return c.take();
}

}  // namespace

const Algorithm barrier_hierarchical = {
    .name = "hierarchical",
    .summary = "within hosts, among their first ranks, within hosts",
    .collective = Collective::kBarrier,
    .rank_order = true,
    .applies = spans_hosts,
    .seconds = seconds,
    .compose = compose};

}  // namespace tutti
