// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A rank of a communicator as it looks on its host, in bytes for one who looks from another.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/process_state.hpp"
#include "inspect/snapshot.hpp"

namespace tutti::inspect {

struct Page {
  CommunicatorSnapshot about;  // communicator without its ranks
  RankSnapshot rank;
  ProcessState state = {};
  std::string program = {};
  Moment now = {};  // the host's clocks
};

// With the last calls only, at most so many.
std::vector<std::byte> to_bytes(const Page& page, size_t most_calls);
// Checked, whatever the bytes are.
std::optional<Page> page_in(std::span<const std::byte> bytes);

}  // namespace tutti::inspect
