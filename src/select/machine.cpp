// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "select/machine.hpp"

#include <algorithm>
#include <memory>

#include "algorithms/cost.hpp"

namespace tutti {
namespace {

// How much longer a byte between groups of hosts takes, as networks thin out above their leaves and
// flows meet there.
double taper_of(const NetworkFigures& network) {
  constexpr double kGuess = 2;  // where nobody has measured it
  if (network.group_byte_s <= 0) return kGuess;
  return std::max(1.0, network.group_byte_s / network.line_byte_s);
}

}  // namespace

// Ranks that outnumber the cores take turns. Everything takes as many times longer as there are
// ranks per core. A rank that waits for a line waits for the turn of its writer.
Machine machine_for(int ranks, int cores, const Machine& alone) {
  Machine machine = alone;
  if (ranks <= cores) return machine;
  const double share = static_cast<double>(ranks) / cores;
  for (double* cost :
       {&machine.step_s, &machine.copy_cached_s, &machine.copy_memory_s, &machine.handover_s,
        &machine.takeover_s, &machine.walk_read_s, &machine.walk_write_s, &machine.message_s,
        &machine.message_byte_s, &machine.pull_s, &machine.pull_cached_s, &machine.pull_shared_s,
        &machine.pull_memory_s, &machine.reduce_s}) {
    *cost *= share;
  }
  // Data that peers on the rank's own core have written is in its cache already.
  const double elsewhere = (ranks - share) / (ranks - 1);
  for (double* read : {&machine.handover_s, &machine.walk_read_s}) {
    *read = elsewhere * *read + (1 - elsewhere) * share * alone.copy_cached_s;
  }
  machine.line_s = machine.turn_s * share;
  machine.line_far_s = machine.line_s;
  machine.ranks_per_core = share;
  machine.message_s += machine.line_s;
  return machine;
}

// Messages are those between hosts, for they cost the most. The ranks of a host share its network.
Machine machine_across(const Hosts& hosts, const Machine& host, const NetworkFigures& network) {
  Machine machine = host;
  machine.message_s = network.message_s;
  machine.message_byte_s = network.line_byte_s * hosts.most_on_a_host();
  machine.host = std::make_shared<Machine>(host);
  return machine;
}

Machine alone_on_host(const Hosts& hosts, Machine across) {
  across.message_byte_s /= hosts.most_on_a_host();
  return across;
}

Machine machine_over_groups(const Hosts& groups, const Machine& across,
                            const NetworkFigures& network) {
  Machine group = *across.host;
  group.line_s = across.message_s * rounds_of(groups.most_on_a_host()) / 2;
  group.line_next_s = 0;
  group.handover_s = across.message_byte_s;
  group.takeover_s = 0;
  Machine machine = across;
  machine.message_byte_s *= taper_of(network);
  machine.host = std::make_shared<Machine>(group);
  return machine;
}

}  // namespace tutti
