// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "select/tuning.hpp"

#include <algorithm>

namespace tutti {
namespace {

constexpr MachineFigure kFigures[] = {
    {"line_s", &Machine::line_s},
    {"line_next_s", &Machine::line_next_s},
    {"line_far_s", &Machine::line_far_s},
    {"line_far_next_s", &Machine::line_far_next_s},
    {"turn_s", &Machine::turn_s},
    {"message_s", &Machine::message_s},
    {"step_s", &Machine::step_s},
    {"copy_cached_s", &Machine::copy_cached_s},
    {"copy_memory_s", &Machine::copy_memory_s},
    {"handover_s", &Machine::handover_s},
    {"takeover_s", &Machine::takeover_s},
    {"walk_read_s", &Machine::walk_read_s},
    {"walk_write_s", &Machine::walk_write_s},
    {"message_byte_s", &Machine::message_byte_s},
    {"pull_s", &Machine::pull_s},
    {"pull_cached_s", &Machine::pull_cached_s},
    {"pull_shared_s", &Machine::pull_shared_s},
    {"pull_memory_s", &Machine::pull_memory_s},
    {"reduce_s", &Machine::reduce_s},
};
// All are here but cache_bytes, ranks_per_core and host: a figure that is added to Machine needs
// its name.
static_assert((std::size(kFigures) + 1) * sizeof(double) + sizeof(uint64_t) +
                  sizeof(Machine::host) ==
              sizeof(Machine));

}  // namespace

std::span<const MachineFigure> machine_figures() { return kFigures; }

CollectiveRules Tuning::rules_for(int ranks, int cores) const {
  CollectiveRules rules;
  for (const TunedChoice& choice : choices) {
    // More cores than ranks make no difference.
    if (choice.ranks != ranks || choice.cores != std::min(ranks, cores)) continue;
    rules[static_cast<size_t>(choice.collective)].push_back(
        {.algorithm = choice.algorithm, .lowest = choice.lowest, .highest = choice.highest});
  }
  return rules;
}

const TunedDevice* Tuning::device(std::string_view api, std::string_view name) const {
  for (const TunedDevice& one : devices) {
    if (one.api == api && one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace tutti
