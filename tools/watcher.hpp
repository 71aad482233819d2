// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Looks at jobs again and again, and says what is news: a line and a report for each cause for
// which a job hangs or is slow, and a line when that is over.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/episodes.hpp"
#include "tools/inside.hpp"
#include "tools/observation.hpp"
#include "tools/rates.hpp"

namespace tutti::tools {

struct WatchSettings {
  tutti::inspect::Wanted wanted;
  double hung_after_s = 60;
  double slow_share = 0.15;
  bool json = false;
  bool once = false;       // says of each job how it is
  std::string reports;     // a folder; empty: no reports
  std::string prometheus;  // a file; empty: no metrics
};

// Used by one thread.
class Watcher {
 public:
  explicit Watcher(WatchSettings settings);

  // Looks at all jobs that are wanted, and prints what is news. Returns the gravest status: kHung,
  // kNothingToSee, kSlow, kWell; kNothingToSee if a job was asked for that is not there.
  int look();
  // Whether a look has seen a job that lives.
  [[nodiscard]] bool sees_any() const { return !jobs_.empty(); }
  // Whether the process that was asked for is there, or one of those that were seen last.
  [[nodiscard]] bool lives() const;

 private:
  using ProcessKey = std::pair<int, uint64_t>;  // number of a process and when it started
  struct Watched {
    std::string name;
    std::set<ProcessKey> processes;
    Episodes episodes;
    std::vector<tutti::inspect::Finding> findings = {};  // of the last look
    int status = kWell;                                  // of the last look
    bool seen = false;                                   // at the last look
    int reports = 0;
    [[nodiscard]] bool lives() const;
  };
  [[nodiscard]] std::vector<Observation> observe_all() const;
  Watched& watched(const tutti::inspect::Job& job);
  const Watched& judge(const Observation& observed);
  void say(Watched& of, const Episodes::News& news, const tutti::inspect::Job* job,
           const tutti::inspect::Verdict& verdict);
  void say_how_it_is(const Watched& of, const tutti::inspect::Verdict& verdict) const;
  std::string report(Watched& of, const Episodes::News& news, const tutti::inspect::Job& job,
                     const tutti::inspect::Verdict& verdict);
  void end_those_that_are_not_seen();
  void write_metrics(const std::vector<CommunicatorRates>& rates) const;

  const WatchSettings settings_;
  const ProcessKey asked_;  // the process that was asked for
  std::vector<Watched> jobs_;
};

}  // namespace tutti::tools
