// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The machine of the cost model as ranks see it that share cores, or are on several hosts.
#pragma once

#include "algorithms/algorithm.hpp"
#include "select/network_figures.hpp"

namespace tutti {

// As `ranks` ranks see it that share `cores` cores; `alone` is the machine as one rank sees it.
Machine machine_for(int ranks, int cores, const Machine& alone = {});

// As ranks on several hosts see it; `host` is the machine as the ranks of one host see it.
Machine machine_across(const Hosts& hosts, const Machine& host, const NetworkFigures& network = {});
// The same as one rank of each host sees it while the others send nothing.
Machine alone_on_host(const Hosts& hosts, Machine across);
// As the ranks of a column see it that may go by way of groups of hosts: a byte between groups
// costs more, and `host` is a group, whose hosts send messages as well.
Machine machine_over_groups(const Hosts& groups, const Machine& across,
                            const NetworkFigures& network = {});

}  // namespace tutti
