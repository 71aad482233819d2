// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The targets under libFuzzer, one at a time: TUTTI_FUZZ names it, or "list" to see them all.
#include "core/log.hpp"
#include "fuzz/fuzz.hpp"

namespace {

using tutti_test::fuzz::Target;
using tutti_test::fuzz::targets;

const Target* wanted = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*arguments*/) {
  const char* const name = std::getenv("TUTTI_FUZZ");
  const bool lists = name != nullptr && std::string_view(name) == "list";
  for (const Target& target : targets()) {
    if (lists) std::printf("%s\n", target.name.data());
    if (name != nullptr && target.name == name) wanted = &target;
  }
  if (lists) std::exit(0);
  if (wanted == nullptr) {
    std::fprintf(stderr, "TUTTI_FUZZ is '%s', expected 'list' or a name of that list\n",
                 name != nullptr ? name : "");
    std::exit(1);
  }
  tutti::log::set_level(tutti::LogLevel::kError);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  wanted->run(tutti_test::fuzz::Input(std::as_bytes(std::span(data, size))));
  return 0;
}
