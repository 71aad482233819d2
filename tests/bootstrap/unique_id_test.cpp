// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/unique_id.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

namespace tutti {
namespace {

TEST(UniqueId, SurvivesBeingTurnedIntoBytes) {
  auto made = make_unique_id();
  ASSERT_TRUE(made.ok()) << made.status().message();
  auto read = decode(encode(*made));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->name, made->name);
  EXPECT_EQ(read->secret, made->secret);
  EXPECT_EQ(read->maker_pid, getpid());
  EXPECT_EQ(read->describe(), made->describe());
}

TEST(UniqueId, CarriesAnAddressOfEitherFamily) {
  for (const char* host : {"10.1.2.3", "fd00::17"}) {
    const UniqueId id = derive_unique_id("key", parse_address(host, 4711));
    auto read = decode(encode(id));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->address, id.address);
    EXPECT_NE(read->describe().find(id.address.text()), std::string::npos);
    EXPECT_EQ(read->name, derive_unique_id("key").name);
  }
}

TEST(UniqueId, NoTwoAreAlike) {
  auto one = make_unique_id();
  auto two = make_unique_id();
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_NE(one->name, two->name);
  EXPECT_NE(one->secret, two->secret);
}

TEST(UniqueId, DerivedFromOneKeyIsOneAndFromAnotherAnother) {
  EXPECT_EQ(derive_unique_id("job 1").name, derive_unique_id("job 1").name);
  EXPECT_NE(derive_unique_id("job 1").name, derive_unique_id("job 2").name);
  EXPECT_NE(derive_unique_id("job 1").secret, derive_unique_id("job 2").secret);
  EXPECT_NE(derive_unique_id("job 1").secret, derive_unique_id("job 1").name);
}

TEST(UniqueId, GarbageIsNoId) {
  tutti_unique_id garbage;
  std::memset(garbage.bytes, 0xa5, sizeof garbage.bytes);
  auto read = decode(garbage);
  EXPECT_EQ(read.status().code(), Code::kInvalidArgument);
  EXPECT_NE(read.status().message().find("not a Tutti id"), std::string_view::npos);
}

TEST(UniqueId, AnyChangedByteIsNoticed) {
  const tutti_unique_id good = encode(derive_unique_id("key"));
  for (size_t i = 0; i < sizeof good.bytes; ++i) {
    tutti_unique_id bad = good;
    bad.bytes[i] ^= 0x40;
    EXPECT_FALSE(decode(bad).ok()) << "byte " << i;
  }
}

TEST(UniqueId, OfAnotherFormatNamesTheVersionThatMadeIt) {
  tutti_unique_id other = encode(derive_unique_id("key"));
  other.bytes[8] = 9;
  auto read = decode(other);
  EXPECT_NE(read.status().message().find("format 9 (Tutti 1."), std::string_view::npos)
      << read.status().message();
}

}  // namespace
}  // namespace tutti
