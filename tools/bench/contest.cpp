// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/bench/contest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/median.hpp"

namespace tutti::tune {
namespace {

using tutti::median;

constexpr double kClearlyFaster = 0.95;
constexpr uint64_t kSmallest = 4;           // bytes; smaller is alike
constexpr uint64_t kLargest = 64ULL << 20;  // bytes; larger is alike

bool clearly_faster(const std::vector<double>& challenger, const std::vector<double>& holder) {
  size_t rounds = 0;
  for (size_t i = 0; i < holder.size(); ++i) {
    if (challenger[i] <= kClearlyFaster * holder[i]) ++rounds;
  }
  return 2 * rounds > holder.size() && median(challenger) <= kClearlyFaster * median(holder);
}

// The last size of `low`, before `high` takes over.
uint64_t border(const Winner& low, const Winner& high, const Predict& predict) {
  if (predict(low.bytes) != low.algorithm || predict(high.bytes) != high.algorithm) {
    const double middle =
        std::sqrt(static_cast<double>(low.bytes) * static_cast<double>(high.bytes));
    return std::clamp(static_cast<uint64_t>(middle), low.bytes, high.bytes - 1);
  }
  uint64_t below = low.bytes;
  uint64_t above = high.bytes;
  while (above - below > 1) {
    const uint64_t middle = below + (above - below) / 2;
    (predict(middle) == low.algorithm ? below : above) = middle;
  }
  return below;
}

}  // namespace

size_t winner_of(const std::vector<std::vector<double>>& seconds) {
  size_t winner = 0;
  for (size_t i = 1; i < seconds.size(); ++i) {
    if (!clearly_faster(seconds[i], seconds.front())) continue;
    if (winner == 0 || median(seconds[i]) < median(seconds[winner])) winner = i;
  }
  return winner;
}

// A line for each algorithm: collective, bytes, its name, its times.
std::string print_contests(const std::vector<Contest>& contests) {
  std::string text;
  for (const Contest& contest : contests) {
    for (size_t i = 0; i < contest.algorithms.size(); ++i) {
      text += fmt::format("{} {} {} {}\n", collective_name(contest.collective), contest.bytes,
                          contest.algorithms[i]->name, fmt::join(contest.seconds[i], " "));
    }
  }
  return text;
}

std::vector<Contest> parse_contests(const std::string& text) {
  std::vector<Contest> contests;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string collective;
    std::string name;
    uint64_t bytes = 0;
    words >> collective >> bytes >> name;
    for (const Algorithm* algorithm : tutti::algorithms()) {
      if (collective_name(algorithm->collective) != collective || algorithm->name != name) continue;
      if (contests.empty() || contests.back().collective != algorithm->collective ||
          contests.back().bytes != bytes) {
        contests.push_back({algorithm->collective, bytes, {}, {}});
      }
      contests.back().algorithms.push_back(algorithm);
      contests.back().seconds.emplace_back();
      for (double seconds = 0; words >> seconds;) contests.back().seconds.back().push_back(seconds);
    }
  }
  return contests;
}

std::vector<TunedChoice> ranges_of(const Field& field, const std::vector<Winner>& winners,
                                   const Predict& predict) {
  std::vector<TunedChoice> choices;
  for (size_t i = 0; i < winners.size(); ++i) {
    const Winner& winner = winners[i];
    if (i > 0 && winners[i - 1].algorithm == winner.algorithm) {
      choices.back().highest = winner.bytes;
      continue;
    }
    TunedChoice choice{field.collective, field.ranks,  field.cores,
                       winner.bytes,     winner.bytes, winner.algorithm};
    if (i > 0) {
      choices.back().highest = border(winners[i - 1], winner, predict);
      choice.lowest = choices.back().highest + 1;
    } else if (winner.bytes > 0 && winner.bytes <= kSmallest) {
      choice.lowest = 1;
    }
    choices.push_back(choice);
  }
  if (!winners.empty() && winners.back().bytes * static_cast<uint64_t>(field.blocks) >= kLargest) {
    choices.back().highest = UINT64_MAX;
  }
  return choices;
}

std::vector<TunedChoice> merge_choices(std::vector<TunedChoice> old,
                                       const std::vector<TunedChoice>& fresh) {
  std::erase_if(old, [&](const TunedChoice& choice) {
    return std::ranges::any_of(fresh, [&](const TunedChoice& other) {
      return other.collective == choice.collective && other.ranks == choice.ranks &&
             other.cores == choice.cores;
    });
  });
  old.insert(old.end(), fresh.begin(), fresh.end());
  return old;
}

}  // namespace tutti::tune
