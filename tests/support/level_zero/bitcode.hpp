// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// SPIR-V to the bitcode that PoCL takes, by the translator of the Debian package llvm-spirv-15.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti_test::ze {

// Kept in a folder of the user's own, by the module's content. Empty if it failed; `why` says so.
std::vector<uint8_t> bitcode_of(std::span<const uint8_t> spirv, std::string* why);

}  // namespace tutti_test::ze
