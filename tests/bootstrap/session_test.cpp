// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The proof that both ends know the secret, and what happens to those that do not, to what is
// repeated, changed or cut.
#include "bootstrap/session.hpp"

#include <gtest/gtest.h>

#include "bootstrap/unique_id.hpp"

namespace tutti::bootstrap {
namespace {

using Got = Session::Got;
using Bytes = std::vector<std::byte>;

const UniqueId kId = derive_unique_id("session test");

Session session(Session::Side side, const UniqueId& id = kId) {
  return Session(side, id.name, id.secret);
}

// What `from` has to say, taken from it.
Bytes said(Session& from) { return std::exchange(from.out(), {}); }

// Lets both speak until neither has anything to say; keeps what the member said.
void converse(Session& member, Session& service, Bytes* recorded = nullptr) {
  MeetingFrame frame{};
  while (!member.out().empty() || !service.out().empty()) {
    const Bytes there = said(member);
    if (recorded != nullptr) recorded->insert(recorded->end(), there.begin(), there.end());
    service.append(there);
    (void)service.next(frame);
    member.append(said(service));
    (void)member.next(frame);
  }
}

// Both, with the proof behind them.
struct Pair {
  Session member = session(Session::Side::kMember);
  Session service = session(Session::Side::kService);
  Pair() { converse(member, service); }
};

TEST(Session, TwoThatKnowTheSecretUnderstandEachOther) {
  Pair pair;
  ASSERT_TRUE(pair.member.established() && pair.service.established());
  MeetingFrame frame{};
  for (const std::string text : {"", "one", "another"}) {
    pair.member.put(MeetingFrameKind::kGather, {bytes_of(std::string_view(text))});
    pair.service.append(said(pair.member));
    ASSERT_EQ(pair.service.next(frame), Got::kFrame);
    EXPECT_EQ(frame.kind, MeetingFrameKind::kGather);
    EXPECT_EQ(text_in(frame.body), text);
    pair.service.put(MeetingFrameKind::kContributions, {frame.body});
    pair.member.append(said(pair.service));
    ASSERT_EQ(pair.member.next(frame), Got::kFrame);
    EXPECT_EQ(text_in(frame.body), text);
  }
}

TEST(Session, EachEndRefusesWhoDoesNotKnowTheSecret) {
  UniqueId other = kId;
  other.secret[15] ^= std::byte{1};
  Session member = session(Session::Side::kMember, other);
  Session service = session(Session::Side::kService);
  converse(member, service);
  EXPECT_EQ(service.refusal(), Refusal::kSecret);
  EXPECT_EQ(member.refusal(), Refusal::kSecret);
}

TEST(Session, AMemberIsToldWhenAnotherMeetingIsHeldHere) {
  Session member = session(Session::Side::kMember, derive_unique_id("elsewhere"));
  Session service = session(Session::Side::kService);
  converse(member, service);
  EXPECT_EQ(service.refusal(), Refusal::kElsewhere);
  EXPECT_EQ(member.refusal(), Refusal::kElsewhere);
}

TEST(Session, ARecordedProofIsNoProofTheSecondTime) {
  Bytes recorded;
  Session member = session(Session::Side::kMember);
  Session service = session(Session::Side::kService);
  converse(member, service, &recorded);
  ASSERT_TRUE(service.established());
  Session again = session(Session::Side::kService);
  again.append(recorded);
  MeetingFrame frame{};
  EXPECT_EQ(again.next(frame), Got::kRefused);
  EXPECT_EQ(again.refusal(), Refusal::kSecret);
}

TEST(Session, NoBitOfTheProofMayChange) {
  Bytes recorded;
  {
    Session member = session(Session::Side::kMember);
    Session service = session(Session::Side::kService);
    converse(member, service, &recorded);
  }
  for (size_t changed = 0; changed < recorded.size(); ++changed) {
    Session member = session(Session::Side::kMember);
    Session service = session(Session::Side::kService);
    MeetingFrame frame{};
    size_t at = 0;
    while (!member.out().empty()) {
      Bytes there = said(member);
      if (changed >= at && changed < at + there.size()) there[changed - at] ^= std::byte{4};
      at += there.size();
      service.append(there);
      (void)service.next(frame);
      member.append(said(service));
      (void)member.next(frame);
    }
    EXPECT_FALSE(service.established() && member.established()) << "byte " << changed;
  }
}

TEST(Session, AFrameThatIsChangedRepeatedLeftOutOrReflectedEndsIt) {
  const auto told = [](const auto& tamper) {
    Pair pair;
    pair.member.put(MeetingFrameKind::kGather, {bytes_of(std::string_view("first"))});
    const Bytes first = said(pair.member);
    pair.member.put(MeetingFrameKind::kGather, {bytes_of(std::string_view("second"))});
    const Bytes second = said(pair.member);
    pair.service.append(tamper(first, second));
    MeetingFrame frame{};
    Got got;
    while ((got = pair.service.next(frame)) == Got::kFrame) {
    }
    return got;
  };
  using B = const Bytes&;
  const auto joined = [](Bytes one, B other) {
    one.insert(one.end(), other.begin(), other.end());
    return one;
  };
  EXPECT_EQ(told([&](B first, B second) { return joined(first, second); }), Got::kMore);
  EXPECT_EQ(told([&](B first, B) { return joined(first, first); }), Got::kRefused);
  EXPECT_EQ(told([&](B, B second) { return second; }), Got::kRefused);
  EXPECT_EQ(told([&](B first, B) { return Bytes(first.begin(), first.end() - 1); }), Got::kMore);
  const size_t size = 4 + 1 + 5 + 16;  // length, kind, text, tag
  for (size_t changed = 4; changed < size; ++changed) {
    EXPECT_EQ(told([&](Bytes first, B) {
                first[changed] ^= std::byte{1};
                return first;
              }),
              Got::kRefused)
        << "byte " << changed;
  }
  Pair pair;
  pair.service.put(MeetingFrameKind::kWelcome, {});
  pair.service.append(said(pair.service));
  MeetingFrame frame{};
  EXPECT_EQ(pair.service.next(frame), Got::kRefused);
}

TEST(Session, AFrameThatIsTooLongIsRefusedByItsLengthAlone) {
  Pair pair;
  const uint32_t length = kMostFrameBytes + 1;
  pair.service.append(bytes_of(length));
  MeetingFrame frame{};
  EXPECT_EQ(pair.service.next(frame), Got::kRefused);
}

}  // namespace
}  // namespace tutti::bootstrap
