// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/names.hpp"

#include <algorithm>
#include <string_view>

namespace tutti {

namespace {

// `--json FILE`, as it was at first, is `--output FILE`. No collective has a period or a slash.
void take_file_of_json(std::vector<std::string>& words) {
  for (size_t i = 2; i < words.size(); ++i) {
    if (words[i].starts_with("--json=")) words[i].replace(2, 4, "output");
    if (words[i] != "--json" || i + 1 == words.size() || words[i + 1].starts_with('-')) continue;
    if (words[i + 1].find_first_of("./") != std::string::npos) words[i] = "--output";
  }
}

}  // namespace

std::vector<std::string> usual_words(std::vector<std::string> words) {
  if (words.empty()) return words;
  constexpr std::string_view kPrefix = "tutti-";
  constexpr std::string_view kSuffix = "_perf";
  const std::string name = words[0].substr(words[0].rfind('/') + 1);
  if (name.starts_with(kPrefix)) {
    words[0] = "tutti";
    words.insert(words.begin() + 1, name.substr(kPrefix.size()));
  } else if (name.ends_with(kSuffix)) {
    words[0] = "tutti";
    words.insert(words.begin() + 1, {"perf", name.substr(0, name.size() - kSuffix.size())});
  }
  if (words.size() < 2 || words[1] != "bench") return words;
  take_file_of_json(words);
  const auto flag = std::ranges::find(words, "--nccl-tests");
  if (flag == words.end()) return words;
  words.erase(flag);
  words[1] = "perf";
  return words;
}

}  // namespace tutti
