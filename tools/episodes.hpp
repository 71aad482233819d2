// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The memory of a watcher: what it has said of a job, so that it says each cause once, and once
// that all is well again.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "inspect/verdict.hpp"

namespace tutti_tools {

class Episodes {
 public:
  struct News {
    bool begins = false;                                                // else it is over
    tutti::inspect::Outcome outcome = tutti::inspect::Outcome::kHangs;  // or kSlow
    tutti::inspect::Finding finding = {};                               // if it begins
    double lasted_s = 0;
  };

  // A job counts as slow if one rank costs it this share of the time and more.
  explicit Episodes(double slow_share) : slow_share_(slow_share) {}

  // Takes what a look has told. A hang is told of at once. Who is slow is told of after kSlowLooks
  // looks with one cause, and that it is over after as many without any.
  std::vector<News> take(const tutti::inspect::Verdict& verdict, int64_t now_ms);
  // The job is gone.
  std::vector<News> end(int64_t now_ms);

  // What has been told of, and is not over.
  [[nodiscard]] bool hangs() const { return !hung_.said.empty(); }
  [[nodiscard]] bool slow() const { return !slow_.said.empty(); }
  // Whether the finding says that the job is slow; what never changes is no news.
  [[nodiscard]] bool is_slow(const tutti::inspect::Finding& finding) const;

  static constexpr int kSlowLooks = 3;

 private:
  using Key = std::pair<tutti::inspect::Cause, std::vector<int>>;
  struct Episode {
    tutti::inspect::Outcome outcome;
    int looks;  // that have to agree
    std::set<Key> said = {};
    Key last = {};
    int seen = 0;   // how often `last`, one after the other
    int quiet = 0;  // looks since
    int64_t since_ms = 0;
  };
  static void take(Episode& episode, const tutti::inspect::Finding* finding, int64_t now_ms,
                   std::vector<News>& news);
  static void end(Episode& episode, int64_t now_ms, std::vector<News>& news);

  double slow_share_;
  Episode hung_{.outcome = tutti::inspect::Outcome::kHangs, .looks = 1};
  Episode slow_{.outcome = tutti::inspect::Outcome::kSlow, .looks = kSlowLooks};
};

}  // namespace tutti_tools
