// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Programs that were compiled for another version of Tutti than the library that is loaded: their
// structs are shorter, or longer.
#include <cstddef>
#include <cstring>
#include <string>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

// As a later version has it.
template <typename Struct>
struct Later {
  Struct known;
  size_t added = 0;
};

template <typename Struct>
Later<Struct> later(const Struct& known) {
  Later<Struct> made{known};
  made.known.size = sizeof made;
  return made;
}

TEST(Versions, AnOlderProgramsShorterConfigIsTakenAndWhatFollowsItIsNotRead) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    tutti_comm_config config;
    std::memset(&config, 0x5a, sizeof config);
    config.size = offsetof(tutti_comm_config, tuner);
    config.timeout_ms = 12345;
    config.init_timeout_ms = -1;
    config.strict = -1;
    config.name = "of an old program";
    tutti_comm_t part = nullptr;
    ASSERT_OK(tutti_comm_split(comm, 0, rank, &config, &part));
    int timeout_ms = 0;
    EXPECT_OK(tutti_comm_get_timeout(part, &timeout_ms));
    EXPECT_EQ(timeout_ms, 12345);
    int32_t one = 1;
    EXPECT_OK(tutti_allreduce(&one, &one, 1, TUTTI_INT32, TUTTI_SUM, part));
    EXPECT_EQ(one, 2);
    EXPECT_OK(tutti_comm_destroy(part));
  });
}

TEST(Versions, AConfigThatIsShorterThanAnyVersionsIsRefused) {
  run_ranks(1, [](int rank, tutti_comm_t comm) {
    tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
    tutti_comm_t part = nullptr;
    for (const size_t size : {size_t{0}, offsetof(tutti_comm_config, tuner) - 1, SIZE_MAX}) {
      config.size = size;
      EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_split(comm, 0, rank, &config, &part));
      EXPECT_ERROR_SAYS("tutti_comm_config.size is " + std::to_string(size));
      EXPECT_ERROR_SAYS("TUTTI_COMM_CONFIG_INIT");
    }
  });
}

TEST(Versions, ALaterProgramsLongerConfigIsTakenIfItUsesNothingNewAndElseRefusedWithBothSizes) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    tutti_comm_config known = TUTTI_COMM_CONFIG_INIT;
    known.timeout_ms = 12345;
    auto config = later(known);
    tutti_comm_t part = nullptr;
    ASSERT_OK(tutti_comm_split(comm, 0, rank, &config.known, &part));
    int timeout_ms = 0;
    EXPECT_OK(tutti_comm_get_timeout(part, &timeout_ms));
    EXPECT_EQ(timeout_ms, 12345);
    EXPECT_OK(tutti_comm_destroy(part));

    config.added = 1;
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT,
                  tutti_comm_split(comm, 0, rank, &config.known, &part));
    EXPECT_ERROR_SAYS("tutti_comm_config.size is " + std::to_string(sizeof config) + ", and " +
                      std::to_string(sizeof(tutti_comm_config)) + " in Tutti " +
                      tutti_version_string());
  });
}

TEST(Versions, ALaterProgramsTunerAndQueueAreRefusedWithBothSizesIfTheyUseWhatIsNew) {
  run_ranks(1, [](int rank, tutti_comm_t comm) {
    tutti_tuner known{};
    known.choose = [](void*, const tutti_tuner_query*) -> const char* { return nullptr; };
    auto tuner = later(known);
    tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
    config.tuner = &tuner.known;
    tutti_comm_t part = nullptr;
    ASSERT_OK(tutti_comm_split(comm, 0, rank, &config, &part));
    EXPECT_OK(tutti_comm_destroy(part));
    tuner.added = 1;
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_split(comm, 0, rank, &config, &part));
    EXPECT_ERROR_SAYS("tutti_tuner.size is " + std::to_string(sizeof tuner) + ", and " +
                      std::to_string(sizeof known));

    const tutti_queue none = TUTTI_QUEUE_INIT;
    auto queue = later(none);
    queue.added = 1;
    tutti_comm_t view = nullptr;
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_view(comm, &queue.known, &view));
    EXPECT_ERROR_SAYS("tutti_queue.size is " + std::to_string(sizeof queue) + ", and " +
                      std::to_string(sizeof none));
  });
}

}  // namespace
}  // namespace tutti_test
