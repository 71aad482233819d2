// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The machine of the cost model as ranks see it that share cores, or are on several hosts.
#pragma once

#include "algorithms/algorithm.hpp"
#include "select/network_figures.hpp"

namespace tutti {

// The machine for `ranks` ranks that share `cores` cores; `alone` is the machine for one rank.
Machine machine_for(int ranks, int cores, const Machine& alone = {});

// The machine for ranks on several hosts; `host` is that for the ranks of one host.
Machine machine_across(const Hosts& hosts, const Machine& host, const NetworkFigures& network = {});
// The machine for one rank of each host while the others send nothing.
Machine alone_on_host(const Hosts& hosts, Machine across);
// The machine for the ranks of a column that may go by way of groups of hosts. A byte between
// groups costs more, and `host` is a group, whose hosts send messages as well.
Machine machine_over_groups(const Hosts& groups, const Machine& across,
                            const NetworkFigures& network = {});

}  // namespace tutti
