// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Keys that only the two ends have, and records that open once, in their place.
#include "core/handshake.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/fields.hpp"

namespace tutti {
namespace {

using Bytes = std::vector<std::byte>;
using Side = Handshake::Side;

Rendezvous place(std::byte secret = std::byte{1}) {
  return {.protocol = 3, .name = {std::byte{7}}, .secret = {secret}};
}

struct Pair {
  explicit Pair(const Rendezvous& called = place(), const Rendezvous& answering = place())
      : caller(Side::kCaller, called, 42), answerer(Side::kAnswerer, answering) {}
  // What is answered to what was said, taken as it is expected.
  static Bytes tell(Handshake& to, std::span<const std::byte> said) {
    Bytes answer;
    while (to.expects() != 0 && said.size() >= to.expects()) {
      const size_t taken = to.expects();
      const Bytes more = to.hear(said.first(taken));
      answer.insert(answer.end(), more.begin(), more.end());
      said = said.subspan(taken);
    }
    return answer;
  }
  // Until neither has anything to say.
  void converse() {
    Bytes said = caller.begin();
    while (!said.empty()) {
      said = tell(answerer, said);
      if (!said.empty()) said = tell(caller, said);
    }
  }
  Handshake caller;
  Handshake answerer;
};

Bytes sealed(Sealing& sealing, std::string_view text) {
  const auto plain = bytes_of(text);
  Bytes record(text.size() + kSealBytes);
  sealing.seal({}, plain, record.data());
  return record;
}

std::string opened(Sealing& sealing, const Bytes& record) {
  std::string text(record.size() - kSealBytes, '\0');
  const bool sound = sealing.open({}, record, reinterpret_cast<std::byte*>(text.data()));
  return sound ? text : "refused";
}

TEST(Handshake, BothEndsHaveTheSameKeysOfEachDirection) {
  Pair pair;
  pair.converse();
  ASSERT_TRUE(pair.caller.done() && pair.answerer.done());
  EXPECT_EQ(pair.answerer.caller(), 42u);
  Sealing there = pair.caller.outgoing();
  Sealing back = pair.answerer.outgoing();
  Sealing here = pair.answerer.incoming();
  Sealing again = pair.caller.incoming();
  EXPECT_EQ(opened(here, sealed(there, "one")), "one");
  EXPECT_EQ(opened(here, sealed(there, "two")), "two");
  EXPECT_EQ(opened(again, sealed(back, "three")), "three");
}

TEST(Handshake, KeysAreOtherOnesEachTimeSoWhoLearnsTheSecretLaterReadsNothing) {
  Pair one;
  Pair other;
  one.converse();
  other.converse();
  Sealing sender = one.caller.outgoing();
  Sealing stranger = other.answerer.incoming();
  EXPECT_EQ(opened(stranger, sealed(sender, "one")), "refused");
}

TEST(Handshake, IsRefusedByBothForAnotherSecretNameOrProtocol) {
  Rendezvous elsewhere = place();
  elsewhere.name[3] = std::byte{1};
  Rendezvous other = place();
  ++other.protocol;
  const std::pair<Rendezvous, Refusal> cases[] = {{place(std::byte{2}), Refusal::kSecret},
                                                  {elsewhere, Refusal::kElsewhere},
                                                  {other, Refusal::kProtocol}};
  for (const auto& [called, why] : cases) {
    Pair pair(called);
    pair.converse();
    EXPECT_EQ(pair.answerer.refusal(), why);
    EXPECT_EQ(pair.caller.refusal(), why);
    EXPECT_FALSE(pair.answerer.done() || pair.caller.done());
  }
}

TEST(Handshake, EndsOfDifferentProtocolsLearnEachOthersVersionFromTheFirstBytes) {
  Rendezvous later = place();
  ++later.protocol;
  later.version = TUTTI_VERSION + 100;
  Pair pair(later);
  // Whatever follows may be longer or shorter in another protocol.
  const Bytes said = pair.caller.begin();
  Bytes answer = Pair::tell(pair.answerer, std::span(said).first(12));
  EXPECT_EQ(pair.answerer.refusal(), Refusal::kProtocol);
  EXPECT_EQ(pair.answerer.other().version, later.version);
  EXPECT_EQ(pair.answerer.other().protocol, later.protocol);
  (void)Pair::tell(pair.caller, std::span(answer).first(16));
  EXPECT_EQ(pair.caller.refusal(), Refusal::kProtocol);
  EXPECT_EQ(pair.caller.other().version, uint32_t{TUTTI_VERSION});
  EXPECT_EQ(pair.caller.other().protocol, place().protocol);
}

TEST(Handshake, WhoBeginsWithNonsenseLearnsNothing) {
  Handshake answerer(Side::kAnswerer, place());
  EXPECT_TRUE(answerer.hear(Bytes(answerer.expects(), std::byte{'G'})).empty());
  EXPECT_EQ(answerer.refusal(), Refusal::kNonsense);
}

TEST(Handshake, AKeyWithWhichEverybodyHasTheSameInCommonIsRefused) {
  Pair pair;
  Bytes opening = pair.caller.begin();
  std::fill(opening.end() - sizeof(SecretKey), opening.end(), std::byte{0});
  // The proof covers what was said, so only one who knows the secret gets so far.
  const Bytes challenge = Pair::tell(pair.answerer, opening);
  const Bytes proof = Pair::tell(pair.caller, challenge);
  (void)pair.answerer.hear(proof);
  EXPECT_FALSE(pair.answerer.done());
}

TEST(Sealing, ARecordOpensOnceInItsPlaceAndUnchanged) {
  const SecretKey key = {std::byte{5}};
  Sealing sender(key);
  const Bytes first = sealed(sender, "first");
  const Bytes second = sealed(sender, "second");
  const auto text = bytes_of(std::string_view("first"));
  EXPECT_EQ(std::search(first.begin(), first.end(), text.begin(), text.end()), first.end());
  {
    Sealing receiver(key);
    EXPECT_EQ(opened(receiver, first), "first");
    EXPECT_EQ(opened(receiver, first), "refused") << "repeated";
  }
  Sealing swapped(key);
  EXPECT_EQ(opened(swapped, second), "refused");
  for (size_t changed = 0; changed < first.size(); ++changed) {
    Sealing receiver(key);
    Bytes record = first;
    record[changed] ^= std::byte{16};
    EXPECT_EQ(opened(receiver, record), "refused") << changed;
  }
  Sealing cut(key);
  EXPECT_EQ(opened(cut, Bytes(first.begin(), first.end() - 1)), "refused");
  Sealing other_head(key);
  std::byte to[16];
  EXPECT_FALSE(other_head.open(bytes_of(1), first, to));
}

}  // namespace
}  // namespace tutti
