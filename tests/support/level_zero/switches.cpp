// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "support/level_zero/switches.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

namespace tutti_test::ze {

namespace {

long read(std::string name, long otherwise) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  const char* text = std::getenv(("ZE_TEST_" + name).c_str());
  return text ? std::strtol(text, nullptr, 0) : otherwise;
}

}  // namespace

const Switches& switches() {
  static const Switches read_once{
#define TUTTI_ZE_SWITCH(name, otherwise, help) .name = read(#name, otherwise),
#include "support/level_zero/switches.inc"
#undef TUTTI_ZE_SWITCH
  };
  return read_once;
}

}  // namespace tutti_test::ze
