// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The message of a rank about itself in the first round (comm/settings.hpp), as bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "comm/settings.hpp"

namespace tutti {

struct RankMessage {
  std::string values;  // of the settings that all must share, each with a 0 after it
  uint64_t key = 0;    // key that rank 0 gives the communicator
  RankPlace place;
  std::vector<std::byte> figures;  // of rank 0; others give none
  bool is_whole = false;           // else a rank of another version has written it
};

std::vector<std::byte> pack(const std::string& values, const OwnSettings& own, bool is_rank_0);
RankMessage unpack(std::span<const std::byte> bytes);
// Takes the figures of rank 0 into `inputs`; its error, if it has none.
Status unpack_figures(std::span<const std::byte> bytes, PlanInputs& inputs);

}  // namespace tutti
