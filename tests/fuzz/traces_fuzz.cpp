// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Whatever traces of several programs say, they are one afterwards, or refused in words.
#include <stdexcept>

#include "core/json_text.hpp"
#include "fuzz/fuzz.hpp"
#include "tools/trace_merge.hpp"

namespace {

using nlohmann::json;
using tutti_test::fuzz::text_of;

FUZZ_TARGET(traces) {
  std::vector<tutti::tools::TraceFile> files;
  for (std::string_view text = text_of(input.rest()); !text.empty();) {  // a line each
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (tutti::nests_too_deep(line)) return;
    files.push_back({"a file", json::parse(line, nullptr, false)});
    if (files.back().content.is_discarded()) return;
  }
  try {
    (void)tutti::json_text(tutti::tools::merge_traces(std::move(files)).content, -1);
  } catch (const std::invalid_argument&) {
  }
}

}  // namespace
