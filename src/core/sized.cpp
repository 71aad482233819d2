// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/sized.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "core/handshake.hpp"

namespace tutti {
namespace {

// No struct will be longer. A longer one was never given a size.
constexpr size_t kLongestStruct = 4096;

}  // namespace

Status check_struct(const SizedStruct& expected, const void* given) {
  size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < expected.least || size > kLongestStruct) {
    return Status::format(Code::kInvalidArgument, "{}.size is {}, expected {}: {}", expected.name,
                          size, expected.known, expected.advice);
  }
  if (size <= expected.known) return {};
  const std::span<const char> bytes(static_cast<const char*>(given), size);
  const auto beyond = bytes.subspan(expected.known);
  if (std::ranges::all_of(beyond, [](char byte) { return byte == 0; })) return {};
  return Status::format(Code::kInvalidArgument,
                        "{}.size is {}, and {} in Tutti {}, the library that is loaded: the "
                        "program was compiled for a later one and uses what this one does not have",
                        expected.name, size, expected.known, version_text(TUTTI_VERSION));
}

}  // namespace tutti
