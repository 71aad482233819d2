// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The meeting file, and the text of an id.
#include "bootstrap/couriers/courier.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/wait.hpp"

namespace tutti {
namespace {

constexpr int64_t kLongMs = 60000;
constexpr int64_t kShortMs = 100;

class MeetingFile : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(mkdtemp(folder_), nullptr); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string name() const { return std::string(folder_) + "/meeting"; }
  [[nodiscard]] std::string first() const { return name() + ".0"; }
  [[nodiscard]] std::unique_ptr<couriers::Courier> courier(int rank,
                                                           const std::string& key = "ours") const {
    JobPlace place{rank, 2, 0, 1, key, "a test"};
    place.route.kind = Route::Kind::kFile;
    place.route.file = name();
    return couriers::make_file(place);
  }

  char folder_[32] = "/tmp/tutti-test-XXXXXX";
};

TEST_F(MeetingFile, BringsTheTextOfRankZeroForEachCommunicator) {
  const auto sharer = courier(0);
  const auto taker = courier(1);
  for (const char* text : {"first", "second", "third"}) {
    std::thread early([&] {  // most often before there is a file
      const auto got = taker->share("not of rank 0", now_ms() + kLongMs);
      EXPECT_EQ(got.ok() ? *got : std::string(got.status().message()), text);
    });
    EXPECT_TRUE(sharer->share(text, now_ms() + kLongMs).ok());
    early.join();
  }
}

TEST_F(MeetingFile, IsForThisUserAloneAndGoesWhenAllHaveMet) {
  const auto sharer = courier(0);
  ASSERT_TRUE(sharer->share("text", now_ms()).ok());
  struct stat seen {};
  ASSERT_EQ(stat(first().c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777, 0600u);
  sharer->met();
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(MeetingFile, GoesWithItsProcessAtTheLatest) {
  ASSERT_TRUE(courier(0)->share("text", now_ms()).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(MeetingFile, OfAnotherJobIsNotTakenAndIsReplaced) {
  const auto stale = courier(0, "theirs");
  ASSERT_TRUE(stale->share("theirs", now_ms()).ok());
  const auto got = courier(1)->share("", now_ms() + kShortMs);
  EXPECT_EQ(got.status().code(), Code::kTimeout);
  EXPECT_NE(got.status().message().find(first()), std::string::npos);
  const auto sharer = courier(0);
  ASSERT_TRUE(sharer->share("ours", now_ms()).ok());
  EXPECT_EQ(*courier(1)->share("", now_ms() + kLongMs), "ours");
}

TEST_F(MeetingFile, ThatIsHalfWrittenOrEmptyIsWaitedFor) {
  for (const char* text : {"", "tutti meeting 0 of 2 ranks, ours\nab", "\n\n", "x"}) {
    std::ofstream(first()) << text;
    EXPECT_EQ(courier(1)->share("", now_ms() + kShortMs).status().code(), Code::kTimeout) << text;
  }
}

TEST_F(MeetingFile, ThatLeadsElsewhereIsAnError) {
  std::filesystem::create_symlink("/etc/passwd", first());
  EXPECT_EQ(courier(1)->share("", now_ms() + kLongMs).status().code(), Code::kSystem);
  std::filesystem::remove(first());
  std::filesystem::create_directory(first());
  EXPECT_EQ(courier(1)->share("", now_ms() + kLongMs).status().code(), Code::kInvalidUsage);
}

TEST_F(MeetingFile, InAFolderThatIsNotThereIsAnErrorOfRankZero) {
  std::filesystem::remove_all(folder_);
  const auto made = courier(0)->share("text", now_ms());
  EXPECT_EQ(made.status().code(), Code::kSystem);
  EXPECT_NE(made.status().message().find(first()), std::string::npos);
}

TEST(Courier, TheTextOfAnIdGivesItsBytes) {
  tutti_unique_id id{};
  for (size_t i = 0; i < sizeof id.bytes; ++i) id.bytes[i] = static_cast<unsigned char>(i * 37);
  const std::string text = couriers::text_of(id);
  const auto back = couriers::id_of(text);
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(std::equal(id.bytes, id.bytes + sizeof id.bytes, (*back).bytes));
  for (const std::string& bad :
       {std::string(), text.substr(1), text + "00", "g" + text.substr(1)}) {
    EXPECT_FALSE(couriers::id_of(bad).ok()) << bad;
  }
}

TEST(Courier, WithoutAWayTheUserIsToldOfThree) {
  JobPlace place{1, 4, 0, 2, "key", "a test"};
  place.route.kind = Route::Kind::kNone;
  const auto got = couriers::share(place, "", now_ms());
  EXPECT_EQ(got.status().code(), Code::kUnsupported);
  for (const char* way : {"2 of its 4", "MASTER_ADDR", "TUTTI_MEETING_FILE", "tutti_unique_id"}) {
    EXPECT_NE(got.status().message().find(way), std::string::npos) << way;
  }
}

TEST(Courier, AnMpiThatIsNotInitialisedIsNotUsed) {
  EXPECT_EQ(couriers::mpi_state(), couriers::MpiState::kAbsent);
  JobPlace place{1, 2, 0, 1, "key", "a test"};
  place.route.kind = Route::Kind::kMpi;
  const auto got = couriers::share(place, "", now_ms());
  EXPECT_EQ(got.status().code(), Code::kInvalidUsage);
  EXPECT_NE(got.status().message().find("MPI_Init"), std::string::npos);
}

}  // namespace
}  // namespace tutti
