// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Targets for any bytes at all: each tests/fuzz/<name>_fuzz.cpp has one FUZZ_TARGET(name).
// Its inputs that are kept, tests/fuzz/corpus/<name>/, run in test_fuzz with every compiler;
// libFuzzer makes up more of them (`./dev fuzz`).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace tutti_test::fuzz {

// The bytes that are left.
class Input {
 public:
  explicit Input(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] std::span<const std::byte> rest() const { return bytes_; }
  // Up to so many.
  std::span<const std::byte> take(size_t most) {
    const auto taken = bytes_.first(std::min(bytes_.size(), most));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }
  // With zeros for what is missing.
  template <typename T = uint8_t>
  T number() {
    T value{};
    const auto taken = take(sizeof value);
    if (!taken.empty()) std::memcpy(static_cast<void*>(&value), taken.data(), taken.size());
    return value;
  }
  // A number that is small, or near a power of two, or any.
  uint64_t size() {
    const uint8_t form = number();
    if (form < 192) return form;
    if (form < 240) return (uint64_t{1} << (form & 63)) + number() - 128;
    return number<uint64_t>();
  }

 private:
  std::span<const std::byte> bytes_;
};

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Ends the program if something does not hold that must, whatever the input is.
inline void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

struct Target {
  std::string_view name;
  void (*run)(Input input);
};

inline std::vector<Target>& targets() {
  static std::vector<Target> all;
  return all;
}

struct Registration {
  Registration(std::string_view name, void (*run)(Input)) { targets().push_back({name, run}); }
};

}  // namespace tutti_test::fuzz

#define FUZZ_TARGET(name)                                                                   \
  static void fuzz_##name(tutti_test::fuzz::Input input);                                   \
  static const tutti_test::fuzz::Registration fuzz_registration_##name(#name, fuzz_##name); \
  static void fuzz_##name(tutti_test::fuzz::Input input)
