// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The hangs and slow times of one job, from the verdicts of looks that follow one another. An
// episode begins with the first cause that is told, and is over when no cause has been seen for
// some looks. Each cause in it is told once, and once that it is over.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "inspect/verdict.hpp"

namespace tutti::tools {

// Used by one thread. Times are milliseconds of the monotonic clock.
class Episodes {
 public:
  // What is to be told after a look.
  struct News {
    // The episode begins; false: it is over.
    bool begins = false;
    tutti::inspect::Outcome outcome = tutti::inspect::Outcome::kHangs;  // kHangs or kSlow
    tutti::inspect::Finding finding = {};                               // if it begins
    double lasted_s = 0;                                                // since the episode began
  };

  // A job counts as slow if one rank costs it this share of the time and more.
  explicit Episodes(double slow_share) : slow_share_(slow_share) {}

  // Takes the verdict of a look, and returns what is new. A hang is told at once. A slow rank is
  // told after kSlowObservations in a row with one cause, and that it is over after as many without
  // any.
  std::vector<News> take(const tutti::inspect::Verdict& verdict, int64_t now_ms);
  // The job can be seen no more: returns the ends of its episodes.
  std::vector<News> end(int64_t now_ms);

  // Whether such an episode has been told, and is not over.
  [[nodiscard]] bool hangs() const { return !hung_.said.empty(); }
  [[nodiscard]] bool slow() const { return !slow_.said.empty(); }
  // Whether the finding counts as slow: it costs enough, and is not merely that the calls take the
  // time, which a job may be meant to spend so.
  [[nodiscard]] bool is_slow(const tutti::inspect::Finding& finding) const;

  static constexpr int kSlowObservations = 3;

 private:
  // What makes two findings the same: their cause and the ranks that are blamed.
  using Key = std::pair<tutti::inspect::Cause, std::vector<int>>;
  struct Episode {
    tutti::inspect::Outcome outcome;
    int looks;                // in a row, that have to agree
    std::set<Key> said = {};  // keys told in this episode; empty: there is none
    Key last = {};            // key that the last look has found
    int seen = 0;             // looks in a row that have found `last`
    int quiet = 0;            // looks in a row that have found nothing
    int64_t since_ms = 0;     // when it began
  };
  static void take(Episode& episode, const tutti::inspect::Finding* finding, int64_t now_ms,
                   std::vector<News>& news);
  static void end(Episode& episode, int64_t now_ms, std::vector<News>& news);

  double slow_share_;
  Episode hung_{.outcome = tutti::inspect::Outcome::kHangs, .looks = 1};
  Episode slow_{.outcome = tutti::inspect::Outcome::kSlow, .looks = kSlowObservations};
};

}  // namespace tutti::tools
