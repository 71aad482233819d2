// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The findings of a simulation, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/simulate/loop.hpp"

namespace tutti::simulate {

// All links of a kind together: "host up", "leaf down".
struct LinkKind {
  std::string name;
  uint64_t links = 0;
  uint64_t bytes = 0;
  uint64_t most_bytes = 0;  // bytes of one link
  double most_busy = 0;     // share of the time in which one link carried something
  double waited_s = 0;      // wait of all messages for links
};
std::vector<LinkKind> kinds_of(const Network& network, const Outcome& outcome, int calls);
// The links that carried something for the longest time, at most so many.
std::vector<int> hottest(const Outcome& outcome, size_t most);
// The ranks that waited longest, at most so many.
std::vector<int> most_patient(const Outcome& outcome, size_t most);

struct Found {
  std::string title;  // "allreduce of 8 bytes on 4096 ranks of 512 hosts"
  const Job* job = nullptr;
  const Network* network = nullptr;
  const Outcome* outcome = nullptr;
  int calls = 1;
  double simulated_s = 0;  // time that the simulation took
};
std::string text_of(const Found& found);
nlohmann::ordered_json json_of(const Found& found);

}  // namespace tutti::simulate
