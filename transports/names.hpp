// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The names of ranks in texts: a rank's number in the communicator. For a part of a job's ranks,
// the group's name and the rank's number in the job are added.
#pragma once

#include <string>
#include <vector>

#include "transports/transport.hpp"

namespace tutti {

// rank 2 (pid 77 on h), or: rank 2 of group "tp" (global rank 3, pid 77 on h)
std::string name_of(int rank, const PeerProcess& process);
// rank 2, or: rank 2 of group "tp" (global rank 3)
std::string short_name_of(int rank, const PeerProcess& process);
// communicator "comm 1", or: group "tp" (global ranks 1 to 3 and 5)
std::string name_of_group(const std::string& name, const std::vector<int>& global_ranks);
// Names the ranks by what a transport knows of them.
void name_ranks(const TransportConfig& config, std::vector<PeerProcess>& processes);

}  // namespace tutti
