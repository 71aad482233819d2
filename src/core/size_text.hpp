// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Sizes and words as users write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

std::string lower_case(std::string_view text);

// Decimal with an optional suffix k, m, g (powers of 1024), or "max", in either case; nullopt for
// anything else.
std::optional<uint64_t> parse_size(std::string_view text);
// The shortest text that parse_size() reads so.
std::string print_size(uint64_t size);

}  // namespace tutti
