// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What can be asked of the library without a communicator.
#include <tutti/tutti.h>

#include <set>
#include <string>
#include <thread>

#include "support/elements.hpp"
#include "support/ranks.hpp"

namespace tutti_test {
namespace {

TEST(Header, VersionIsThatOfTheLibrary) {
  EXPECT_EQ(tutti_version(), TUTTI_VERSION);
  EXPECT_EQ(std::string(tutti_version_string()), std::to_string(TUTTI_VERSION_MAJOR) + "." +
                                                     std::to_string(TUTTI_VERSION_MINOR) + "." +
                                                     std::to_string(TUTTI_VERSION_PATCH));
}

TEST(Header, EveryTypeHasItsSizeAndAName) {
  std::set<std::string> names;
  for (int type = 0; type < kTypes; ++type) {
    const auto value = static_cast<tutti_type>(type);
    EXPECT_EQ(tutti_type_size(value), format_of(value).size) << tutti_type_name(value);
    names.insert(tutti_type_name(value));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kTypes));
  EXPECT_EQ(names.count("unknown"), 0u);
}

TEST(Header, AValueThatIsNoTypeHasSizeZeroAndNoName) {
  for (const int type : {kTypes, kTypes + 1}) {
    EXPECT_EQ(tutti_type_size(static_cast<tutti_type>(type)), 0u);
    EXPECT_STREQ(tutti_type_name(static_cast<tutti_type>(type)), "unknown");
  }
}

TEST(Header, EveryReductionHasANameAndNothingElseHas) {
  std::set<std::string> names;
  for (tutti_op op = TUTTI_SUM; op <= TUTTI_BXOR; ++op) names.insert(tutti_op_name(op));
  EXPECT_EQ(names.size(), 8u);
  EXPECT_STREQ(tutti_op_name(TUTTI_BXOR), "bxor");
  for (const tutti_op none : {-1, TUTTI_BXOR + 1, INT32_MAX}) {
    EXPECT_STREQ(tutti_op_name(none), "unknown") << none;
  }
}

TEST(Header, EveryStatusIsNamedAsItsConstant) {
  EXPECT_STREQ(tutti_status_name(TUTTI_OK), "TUTTI_OK");
  EXPECT_STREQ(tutti_status_name(TUTTI_ERR_PEER_FAILED), "TUTTI_ERR_PEER_FAILED");
  std::set<std::string> names;
  for (int status = TUTTI_OK; status <= TUTTI_ERR_INTERRUPTED; ++status) {
    names.insert(tutti_status_name(static_cast<tutti_status>(status)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(TUTTI_ERR_INTERRUPTED) + 1);
  EXPECT_NE(tutti_status_name(static_cast<tutti_status>(TUTTI_ERR_INTERRUPTED + 1)), nullptr);
}

TEST(Header, TheLastErrorBelongsToItsThread) {
  EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_get_unique_id(nullptr));
  EXPECT_STRNE(tutti_last_error(), "");
  std::thread([] { EXPECT_STREQ(tutti_last_error(), ""); }).join();
}

}  // namespace
}  // namespace tutti_test
