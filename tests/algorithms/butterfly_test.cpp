// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "algorithms/butterfly.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

namespace tutti {
namespace {

TEST(Butterfly, PartnersArePairs) {
  for (int ranks = 2; ranks <= 1 << 12; ranks *= 2) {
    for (int number = 0; number < ranks; ++number) {
      const Butterfly butterfly = Butterfly::bine(number, ranks);
      for (int round = 0; round < butterfly.rounds(); ++round) {
        EXPECT_EQ(bine_partner(butterfly.partner(round), round, ranks), number);
      }
    }
  }
}

TEST(Butterfly, PartnersDifferInTheRoundsBitAndAgreeInHigherOnes) {
  for (const auto make : {Butterfly::doubling, Butterfly::bine}) {
    for (int ranks = 2; ranks <= 1 << 12; ranks *= 2) {
      for (int number = 0; number < ranks; ++number) {
        const Butterfly butterfly = make(number, ranks);
        for (int round = 0; round < butterfly.rounds(); ++round) {
          const Butterfly other = make(butterfly.partner(round), ranks);
          EXPECT_EQ(other.first_kept(round), butterfly.first_given(round))
              << number << " " << round;
        }
      }
    }
  }
}

TEST(Butterfly, EachNumberHasAPlaceOfItsOwn) {
  for (int ranks = 1; ranks <= 1 << 16; ranks *= 2) {
    std::set<int> places;
    for (int number = 0; number < ranks; ++number) places.insert(bine_place(number, ranks));
    EXPECT_EQ(places.size(), static_cast<size_t>(ranks));
    EXPECT_EQ(*places.begin(), 0);
    EXPECT_EQ(*places.rbegin(), ranks - 1);
  }
}

TEST(Butterfly, LongMessagesGoToNeighboursAndNoneFartherThanAThird) {
  for (int round = 0; round < 20; ++round) {
    EXPECT_LE(std::abs(bine_distance(round)), ((2 << round) + 1) / 3);
  }
  EXPECT_EQ(bine_distance(0), 1);
  EXPECT_EQ(bine_distance(1), -1);
}

}  // namespace
}  // namespace tutti
