// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The inputs that are kept of each target, those among them that once showed a fault.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/log.hpp"
#include "fuzz/fuzz.hpp"

namespace tutti_test::fuzz {
namespace {

class Corpus : public testing::TestWithParam<Target> {};

TEST_P(Corpus, ShowsNoFault) {
  tutti::log::set_level(tutti::LogLevel::kError);
  const auto folder = std::filesystem::path(TUTTI_FUZZ_CORPUS) / GetParam().name;
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().filename());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    GetParam().run(Input(std::as_bytes(std::span(bytes))));
    ++files;
  }
  EXPECT_GT(files, 0u) << folder;
}

INSTANTIATE_TEST_SUITE_P(Of, Corpus, testing::ValuesIn(targets()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tutti_test::fuzz
