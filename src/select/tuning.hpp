// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The findings of `tutti tune` about a machine: figures for the cost model, and the winning
// algorithms of calls that were measured. Their text is JSON; docs/tuning-file.md describes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "core/status.hpp"
#include "select/device_figures.hpp"
#include "select/network_figures.hpp"
#include "select/rules.hpp"

namespace tutti {

// The machine for which measurements are valid.
struct MachineKey {
  std::string processor;  // the model's name
  int cores = 0;          // of the host, online
  uint64_t l2_bytes = 0;  // bytes per core
  int numa_nodes = 0;
  std::string version;  // of Tutti
  friend bool operator==(const MachineKey&, const MachineKey&) = default;
};

struct TunedChoice {
  Collective collective = Collective::kBarrier;
  int ranks = 1;
  int cores = 1;  // how many of the ranks ran at once, 1 to ranks
  uint64_t lowest = 0;
  uint64_t highest = UINT64_MAX;         // bytes of one block, both included
  const Algorithm* algorithm = nullptr;  // never null
};

struct Tuning {
  MachineKey key;
  Machine machine;
  std::optional<NetworkFigures> network;  // figures of the network; none: not in the file
  std::vector<TunedDevice> devices;       // no two of one API and name
  std::vector<TunedChoice> choices;       // later ones overlay earlier ones

  // The choices for that many ranks on that many cores, by collective.
  [[nodiscard]] CollectiveRules rules_for(int ranks, int cores) const;
  // Null: not in the file.
  [[nodiscard]] const TunedDevice* device(std::string_view api, std::string_view name) const;
};

struct FoundTuning {
  std::string path;  // of the file; empty: none
  Tuning tuning;
};

// Nothing but an error comes of a text that is wrong anywhere; it names `path`, the line or the
// field, and what was expected there.
Result<Tuning> parse_tuning(std::string_view text, const std::string& path);
// The text that parse_tuning reads.
std::string print_tuning(const Tuning& tuning);

// The figures of the cost model by name, in the order of struct Machine.
struct MachineFigure {
  std::string_view name;
  double Machine::*value;
};
std::span<const MachineFigure> machine_figures();

}  // namespace tutti
