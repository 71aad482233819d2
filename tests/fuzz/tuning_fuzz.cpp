// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Whatever a tuning file has in it, it is refused in words, or it is the same after it was printed.
#include "fuzz/fuzz.hpp"
#include "select/tuning.hpp"

namespace tutti {
namespace {

using tutti_test::fuzz::demand;

FUZZ_TARGET(tuning) {
  const auto read = parse_tuning(tutti_test::fuzz::text_of(input.rest()), "a file");
  if (!read.ok()) return demand(!read.status().message().empty(), "a refusal says why");
  const std::string text = print_tuning(*read);
  const auto again = parse_tuning(text, "the same");
  demand(again.ok(), "what was printed is read");
  demand(print_tuning(*again) == text, "and is the same");
  for (const TunedChoice& choice : read->choices) {
    (void)read->rules_for(choice.ranks, choice.cores);
  }
}

}  // namespace
}  // namespace tutti
