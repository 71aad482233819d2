// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the network between the hosts of a communicator is like: how long a short message takes, and
// how much a host's line carries while all hosts send at once. Choices of algorithms depend on it
// (NetworkFigures), and nothing else: a figure that is wrong, as when a process is stopped
// meanwhile for long, costs time, never a result.
//
// Each rank that has a column asks the rank of its column on the next host for data and serves the
// one on the host before, first for short messages one at a time, then for longer and longer ones,
// two at a time. Who asks also decides when it is enough: 15 round trips or 5 ms, then 4 MiB per
// host or 30 ms, whichever comes first, if the network is fast enough for that: at least 3 round
// trips are made, and what was asked for must come, at most 1 MiB per host.
//
// If hosts are in groups, all then ask for long messages of the host in their place of the next
// group: so all lines between groups are as busy as calls by way of the groups make them.
#pragma once

#include <span>

#include "core/exchange.hpp"
#include "core/hosts.hpp"
#include "core/wait.hpp"
#include "select/network_figures.hpp"
#include "transports/endpoint.hpp"

namespace tutti {

// One rank's figures, 0 for what it did not measure.
struct MeasuredFigures {
  double message_s = 0;
  double byte_s = 0;  // of what it received itself
};
// What those of all ranks come to: the median of the latencies, and the slowest line, for whatever
// all hosts do together waits for it; a line carries what the ranks of its host receive together,
// and those that did not measure count like the others. Defaults stay where nobody has measured.
NetworkFigures agreed_figures(const Hosts& hosts, std::span<const MeasuredFigures> ranks);
// What a byte to another group comes to, where `ranks` measured that: the median, since other hosts
// meet on a link in each round, but no less than `line_byte_s`; 0 if nobody has measured it.
double agreed_between_groups(const Hosts& hosts, std::span<const MeasuredFigures> ranks,
                             double line_byte_s);
// Whether one host's line is so much slower than another's that something must have held it up.
bool lines_differ(const Hosts& hosts, std::span<const MeasuredFigures> ranks);

// Collective: all ranks get the same figures, or an error. Where lines differ, they are measured
// once more, and the better counts. `network` reaches all ranks by their numbers, and nothing is
// under way there, nor afterwards. `waiter` says how to wait, and until when.
Result<NetworkFigures> measure_network(Exchange& exchange, const Hosts& hosts, Endpoint& network,
                                       const Waiter& waiter);

}  // namespace tutti
