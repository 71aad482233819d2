// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The file in which ranks of a host find parts: whatever is there, a reader takes those that the
// service has told it of, or none.
#include "bootstrap/parts_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "bootstrap/meeting.hpp"
#include "bootstrap/parts.hpp"
#include "support/processes.hpp"

namespace tutti::bootstrap {
namespace {

using Bytes = std::vector<std::byte>;
using tutti_test::await;
using tutti_test::bytes;
using tutti_test::kLimit;
using tutti_test::run_processes;
using tutti_test::Shared;

constexpr uint64_t kMost = 1 << 20;

PartsPlace write(PartsWriter& writer, const Bodies& bodies) {
  writer.begin();
  for (const Bytes& body : bodies) writer.add(body);
  const auto file = writer.place();
  EXPECT_TRUE(file.has_value());
  return {file.value_or(FilePlace{}), bytes_in(bodies), hash_of(bodies)};
}

TEST(PartsFile, GivesOtherProcessesWhatWasWrittenInEachRound) {
  const Bodies rounds[] = {{Bytes(70000, std::byte{1}), bytes("and more")}, {bytes("short")}, {}};
  Shared<PartsPlace> place;
  Shared<std::atomic<int>> written;
  Shared<std::atomic<int>> taken;
  run_processes({3, kLimit, {}}, [&](int process) {
    PartsWriter writer;
    PartsReader reader;
    int round = 0;
    for (const Bodies& bodies : rounds) {
      if (process == 0) {
        await(*taken, 2 * round);
        *place = write(writer, bodies);
        ++*written;
        ++round;
        continue;
      }
      await(*written, ++round);
      Bytes expected;
      for (const Bytes& body : bodies) expected.insert(expected.end(), body.begin(), body.end());
      EXPECT_EQ(reader.read(*place, kMost), expected);
      ++*taken;
    }
    await(*taken, 6);
  });
}

TEST(PartsFile, IsReadOnAfterItsWriterHasEnded) {
  PartsReader reader;
  auto writer = std::make_unique<PartsWriter>();
  const PartsPlace place = write(*writer, {bytes("here")});
  EXPECT_EQ(reader.read(place, kMost), bytes("here"));
  writer.reset();
  EXPECT_EQ(reader.read(place, kMost), bytes("here"));
  EXPECT_FALSE(PartsReader().read(place, kMost).has_value());
}

TEST(PartsFile, IsNotTakenForWhatTheServiceHasTold) {
  PartsWriter writer;
  const PartsPlace right = write(writer, {bytes("these bytes")});
  const auto refused = [&](auto&& change) {
    PartsPlace wrong = right;
    change(wrong);
    return !PartsReader().read(wrong, kMost).has_value();
  };
  EXPECT_TRUE(PartsReader().read(right, right.bytes).has_value());
  EXPECT_FALSE(PartsReader().read(right, right.bytes - 1).has_value());
  EXPECT_TRUE(refused([](PartsPlace& place) { place.hash[31] ^= std::byte{1}; }));
  EXPECT_TRUE(refused([](PartsPlace& place) { ++place.bytes; }));
  EXPECT_TRUE(refused([](PartsPlace& place) { --place.bytes; }));
  EXPECT_TRUE(refused([](PartsPlace& place) { place.bytes = UINT64_MAX; }));
  EXPECT_TRUE(refused([](PartsPlace& place) { ++place.file.inode; }));
  EXPECT_TRUE(refused([](PartsPlace& place) { ++place.file.device; }));
  EXPECT_TRUE(refused([](PartsPlace& place) { place.file.fd = 0; }));
  EXPECT_TRUE(refused([](PartsPlace& place) { place.file.fd = -1; }));
  EXPECT_TRUE(refused([](PartsPlace& place) { place.file.pid = 0; }));
}

// Where the numbers of files are to be believed, what is behind them is not: no device or pipe.
TEST(PartsFile, IsARegularOne) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Fd in(ends[0]);
  const Fd out(ends[1]);
  struct stat found {};
  ASSERT_EQ(fstat(in.get(), &found), 0);
  const Bodies none;
  const PartsPlace place{{getpid(), in.get(), found.st_dev, found.st_ino}, 0, hash_of(none)};
  EXPECT_FALSE(PartsReader().read(place, kMost).has_value());
}

}  // namespace
}  // namespace tutti::bootstrap
