// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ports over MPI, in three rounds. (1) All say which MPI they have. (2) MPI is initialised, and all
// say their rank in MPI_COMM_WORLD. (3) All have made the communicator of MPI that the ports share.
#include "transports/mpi/connect.hpp"

#include <cstring>
#include <set>

#include "core/exchange.hpp"
#include "core/fields.hpp"
#include "core/socket.hpp"
#include "transports/frames/transport.hpp"
#include "transports/mpi/port.hpp"

namespace tutti::mpi {
namespace {

// The messages of round 2.
struct Seat {
  WorldRank place;
  int32_t tag;  // rank 0's counts
};

Status usable() { return library().status(); }

Status agree_on_mpi(Exchange& exchange) {
  TUTTI_ASSIGN_OR_RETURN(const auto versions,
                         share(exchange, Result<std::string>(library()->version)));
  for (size_t r = 1; r < versions.size(); ++r) {
    if (versions[r] == versions.front()) continue;
    return Status::format(Code::kMismatch,
                          "rank 0 has \"{}\" and rank {} has \"{}\": expected the same MPI on all",
                          versions.front(), r, versions[r]);
  }
  return {};
}

Result<std::string> own_seat(int ranks) {
  TUTTI_ASSIGN_OR_RETURN(const auto place, start(ranks));
  TUTTI_ASSIGN_OR_RETURN(const auto random, random_128());
  Seat seat{};
  seat.place = place;
  std::memcpy(&seat.tag, random.data(), sizeof seat.tag);
  seat.tag &= 0x7fff;
  return std::string(reinterpret_cast<const char*>(&seat), sizeof seat);
}

Status check(const std::vector<Seat>& seats) {
  std::set<int> taken;
  for (size_t r = 0; r < seats.size(); ++r) {
    const WorldRank& place = seats[r].place;
    const bool fits = place.size == seats[0].place.size && place.rank < place.size;
    if (fits && taken.insert(place.rank).second) continue;
    return Status::format(
        Code::kInvalidUsage,
        "rank {} is number {} of {} in its MPI_COMM_WORLD, rank 0 number {} of {}: "
        "expected all ranks in one, as processes that one mpiexec of {} has "
        "started",
        r, place.rank, place.size, seats[0].place.rank, seats[0].place.size, library()->version);
  }
  return {};
}

Result<std::shared_ptr<Group>> open_group(Exchange& exchange) {
  TUTTI_RETURN_IF_ERROR(agree_on_mpi(exchange));
  TUTTI_ASSIGN_OR_RETURN(const auto texts, share(exchange, own_seat(exchange.ranks())));
  TUTTI_ASSIGN_OR_RETURN(const auto seats, values_in<Seat>(texts));
  TUTTI_RETURN_IF_ERROR(check(seats));
  std::vector<int> world_ranks;
  for (const Seat& seat : seats) world_ranks.push_back(seat.place.rank);
  auto group = Group::open(world_ranks, seats.front().tag);
  TUTTI_RETURN_IF_ERROR(share_errors(exchange, group.status()));
  return group;
}

Result<frames::Ports> connect_ports(Exchange& exchange, const TransportConfig& config, bool) {
  TUTTI_ASSIGN_OR_RETURN(const auto group, open_group(exchange));
  frames::Ports ports;
  Status status;
  for (int channel = 0; channel < config.channels && status.ok(); ++channel) {
    auto port = MpiPort::open(group, channel, config.channels);
    status = port.status();
    if (port.ok()) ports.push_back(*std::move(port));
  }
  TUTTI_RETURN_IF_ERROR(share_errors(exchange, status));
  return ports;
}

}  // namespace

Status available() { return library().status(); }

Result<std::unique_ptr<Transport>> connect(Exchange& exchange, const TransportConfig& config) {
  return frames::connect(exchange, config,
                         {"mpi", "MPI (mpi)", usable, connect_ports, note_failure});
}

}  // namespace tutti::mpi
