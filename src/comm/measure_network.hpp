// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Measures the network between the hosts of a communicator. The figures are the time of a short
// message, and the rate of a host's link while all hosts send at once. Nothing but choices of
// algorithms depends on these figures (NetworkFigures). A wrong figure, as when a process is
// stopped for long meanwhile, costs time, never a result.
//
// Each rank that has a column asks the rank of its column on the next host, and serves the one on
// the host before. It asks for short messages one at a time, then for longer and longer ones, two
// at a time. The asking rank decides when it is enough: 15 round trips or 5 ms, then 4 MiB per host
// or 30 ms, whichever comes first. On a slow network it makes at least 3 round trips, and waits for
// what it has asked for, at most 1 MiB per host.
//
// If hosts are in groups, all then ask for long messages of the host in their place of the next
// group. So all links between groups are as busy as calls make them.
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
  double byte_s = 0;  // seconds per byte that this rank received
};
// The figures agreed by all ranks: the median of the latencies, and the rate of the slowest link,
// since all hosts together wait for it. A link carries what the ranks of its host receive together;
// those that did not measure count like the others. Defaults stay where nobody has measured.
NetworkFigures agreed_figures(const Hosts& hosts, std::span<const MeasuredFigures> ranks);
// The seconds per byte to another group, where `ranks` measured that; 0 if nobody did. It is the
// median, since other hosts meet on a link in each round, but no less than `line_byte_s`.
double agreed_between_groups(const Hosts& hosts, std::span<const MeasuredFigures> ranks,
                             double line_byte_s);
// Whether one host's link is so much slower than another's that something must have held it up.
bool links_differ(const Hosts& hosts, std::span<const MeasuredFigures> ranks);

// Collective: all ranks get the same figures, or an error. If links differ, they are measured once
// more, and the better figure counts. `network` reaches all ranks by their numbers, and nothing is
// under way there, nor afterwards. `waiter` says how to wait, and until when.
Result<NetworkFigures> measure_network(Exchange& exchange, const Hosts& hosts, Endpoint& network,
                                       const Waiter& waiter);

}  // namespace tutti
