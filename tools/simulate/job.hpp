// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The job of a simulation: what every rank does, by the library's own selector and plans.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/hosts.hpp"
#include "core/status.hpp"
#include "env/env.hpp"
#include "select/network_figures.hpp"
#include "tools/simulate/program.hpp"

namespace tutti::simulate {

// A question to the simulation.
struct Question {
  Collective collective = Collective::kAllreduce;
  DataType type = DataType::kFloat32;
  uint64_t count = 0;
  int root = 0;
  int ranks = 2;
  int hosts = 1;
  int cores = 0;               // of each host; 0: one per rank
  std::string algorithm = {};  // empty: the selector's choice
  NetworkFigures network = {};
  Machine machine = {};  // of one rank alone
  Environment environment = {};
  uint64_t most_steps = 0;       // limit on the steps of all ranks together
  std::vector<int> groups = {};  // TUTTI_HOST_GROUP by host; empty: nobody has set it
  int calls = 1;                 // each has all steps
};

// The streams of a rank, which run side by side: steps within its host, and among all hosts or its
// column. If a column's phase is a composition, two more are among the hosts of a group, and from
// group to group.
inline constexpr int kStreams = 4;
inline constexpr int kWithin = 0;
inline constexpr int kBetween = 1;
inline constexpr int kInGroup = 2;
inline constexpr int kAcross = 3;

// A part of what a rank does: all, or a phase of a composition.
struct Phase {
  const Program* program = nullptr;
  int rank = 0;  // in the scope
  // The number of phases of each stream that must be complete. Its own come in their order.
  std::array<uint32_t, kStreams> after = {};
};

struct Footprint {
  uint64_t buffer_bytes = 0;   // bytes of the caller's buffers
  uint64_t scratch_bytes = 0;  // private, while the call runs
  uint64_t plan_bytes = 0;     // bytes that the library keeps for calls of this kind
  int connections = 0;         // to ranks of other hosts
};

struct Job {
  Hosts hosts;
  const Algorithm* algorithm = nullptr;
  std::string origin;
  double predicted_s = 0;  // time by the cost model
  bool composed = false;
  Machine within;   // machine for messages of one host, and shared memory
  Machine between;  // machine for what passes between hosts
  Programs programs;
  std::vector<std::array<std::vector<Phase>, kStreams>> roles;  // by rank
  Footprint most;                                               // most that any rank needs
  uint64_t steps = 0;                                           // of all ranks together
  double planned_s = 0;  // time that the plans of all ranks took to make, in this process

  // The rank's number for a peer in a stream.
  [[nodiscard]] int rank_of(int stream, int rank, int peer) const {
    if (stream == kWithin) return hosts.neighbors(rank)[static_cast<size_t>(peer)];
    if (!composed) return peer;
    const int host = host_of(stream, rank, peer);
    return hosts.ranks_of[static_cast<size_t>(host)][static_cast<size_t>(places[rank_at(rank)])];
  }
  [[nodiscard]] bool grouped() const { return composed && hosts.groups != nullptr; }
  static size_t rank_at(int rank) { return static_cast<size_t>(rank); }
  std::vector<int> places;        // by rank, among those of its host
  std::vector<int> group_places;  // places by host, among those of its group, if there are any

 private:
  // The host of a column's rank.
  [[nodiscard]] int host_of(int stream, int rank, int peer) const {
    if (stream == kBetween) return peer;
    const auto host = static_cast<size_t>(hosts.host(rank));
    if (stream == kInGroup) return hosts.groups->neighbors(static_cast<int>(host))[rank_at(peer)];
    return hosts.groups->ranks_of[rank_at(peer)][static_cast<size_t>(group_places[host])];
  }
};

// Hosts with as equal numbers of neighbouring ranks as can be.
Hosts divided(int ranks, int hosts);

// An error if the algorithm does not apply, or if there are too many steps.
Result<std::unique_ptr<Job>> make_job(const Question& question);
// The algorithms of the collective that apply, in the order of the registry.
Result<std::vector<const Algorithm*>> applicable(const Question& question);

}  // namespace tutti::simulate
