// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/tune_rank.hpp"

#include <fmt/format.h>
#include <tutti/tutti.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <optional>

#include "algorithms/algorithm.hpp"
#include "core/clock.hpp"
#include "core/median.hpp"
#include "tools/bench/collectives.hpp"
#include "tools/progress.hpp"

namespace tutti::tune {
namespace {

using bench::Blocks;

constexpr size_t kContestants = 6;
constexpr double kTooSlow = 4;   // times what the cost model predicts for the best
constexpr double kBeaten = 2.5;  // times the best when they are first timed: no more rounds
constexpr size_t kRounds = 5;
constexpr size_t kFewRounds = 3;  // if more would take more time than a case has
constexpr double kMostCalls = 1000;
constexpr double kFewCalls = 20;              // when first timed
constexpr double kFirstSampleSeconds = 1e-4;  // length of the first sample if that is short

Status status_of(tutti_status status) {
  return status == TUTTI_OK ? Status() : Status(static_cast<Code>(status), tutti_last_error());
}

// A communicator on which every call uses the algorithm at one place of the cost model's list.
struct Contestant {
  size_t place = 0;
  tutti_comm_t comm = nullptr;
  std::vector<std::string> contenders;  // for the last kind of call, the fastest first

  static const char* choose(void* context, const tutti_tuner_query* query) {
    auto& self = *static_cast<Contestant*>(context);
    self.contenders.clear();
    for (size_t i = 0; i < query->candidates; ++i) {
      if (i > 0 && query->seconds[i] > kTooSlow * query->seconds[0]) break;
      self.contenders.emplace_back(query->algorithms[i]);
    }
    if (self.contenders.empty()) return nullptr;
    return self.contenders[std::min(self.place, self.contenders.size() - 1)].c_str();
  }
};

class Tuner {
 public:
  explicit Tuner(const Job& job) : job_(job), cases_(cases_of(job)) {}
  Tuner(const Tuner&) = delete;
  Tuner& operator=(const Tuner&) = delete;
  ~Tuner() {
    for (const Contestant& contestant : contestants_) tutti_comm_destroy(contestant.comm);
    tutti_comm_destroy(control_);
  }

  Status open();
  Result<std::string> run();

 private:
  struct Case {
    const tutti::bench::Collective* collective;
    uint64_t bytes;
    double weight;  // share of the time, in no unit
  };
  // A case under way: who competes, and the times so far.
  struct Race {
    std::vector<std::string> names;
    std::vector<double> first;                 // seconds of one call
    std::vector<std::vector<double>> seconds;  // of each contender in each round
  };
  static std::vector<Case> cases_of(const Job& job);
  Status run_calls(const Case& current, size_t contestant, size_t calls, double& seconds);
  Status slowest(std::vector<double>& seconds);
  Result<double> seconds_left();
  Status qualify(const Case& current, Race& race);
  Status compete(const Case& current, double seconds, double left_s, Race& race);
  Result<std::optional<Contest>> measure(size_t i);

  const Job& job_;
  double begin_s_ = 0;  // beginning of the measurements
  tutti_comm_t control_ = nullptr;
  int rank_ = 0;
  std::deque<Contestant> contestants_;  // their addresses stay
  std::vector<Case> cases_;
  std::vector<size_t> counts_;
  std::vector<char> send_;
  std::vector<char> recv_;
};

uint64_t blocks_of(Blocks blocks, int ranks) {
  return blocks == Blocks::kNone ? 0 : blocks == Blocks::kOne ? 1 : static_cast<uint64_t>(ranks);
}

// Long calls get more time, so that they can be made a few times. They come last, so that they are
// missing if time runs out on a busy machine.
std::vector<Tuner::Case> Tuner::cases_of(const Job& job) {
  constexpr double kBytesOfWeight1 = 4 << 20;
  std::vector<Case> all;
  for (const std::string& name : job.collectives) {
    const auto* collective = tutti::bench::find_collective(name);
    const uint64_t blocks =
        std::max(blocks_of(collective->send, job.ranks), blocks_of(collective->recv, job.ranks));
    if (blocks == 0) {
      all.push_back({collective, 0, 1});
      continue;
    }
    uint64_t last = 0;
    for (const uint64_t size : job.sizes) {
      // All blocks together are no longer than the longest size.
      const uint64_t bytes =
          std::min(size, std::max(job.sizes.back() / blocks / 64 * 64, job.sizes.front()));
      if (bytes == last) continue;
      last = bytes;
      all.push_back({collective, bytes, 1 + static_cast<double>(bytes * blocks) / kBytesOfWeight1});
    }
  }
  std::ranges::stable_sort(all, {}, &Case::bytes);
  return all;
}

Status Tuner::open() {
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  config.strict = 0;
  TUTTI_RETURN_IF_ERROR(status_of(tutti_comm_create_from_env(&config, &control_)));
  TUTTI_RETURN_IF_ERROR(status_of(tutti_comm_rank(control_, &rank_)));
  for (size_t place = 0; place < kContestants; ++place) {
    Contestant& contestant = contestants_.emplace_back();
    contestant.place = place;
    const tutti_tuner tuner{sizeof(tutti_tuner), Contestant::choose, &contestant};
    config.tuner = &tuner;
    TUTTI_RETURN_IF_ERROR(
        status_of(tutti_comm_split(control_, 0, rank_, &config, &contestant.comm)));
  }
  uint64_t send = 0;
  uint64_t recv = 0;
  for (const Case& current : cases_) {
    send = std::max(send, current.bytes * blocks_of(current.collective->send, job_.ranks));
    recv = std::max(recv, current.bytes * blocks_of(current.collective->recv, job_.ranks));
  }
  send_.resize(send);
  recv_.resize(recv);
  return {};
}

// Gives the time of one of them.
Status Tuner::run_calls(const Case& current, size_t contestant, size_t calls, double& seconds) {
  counts_.assign(static_cast<size_t>(job_.ranks), current.bytes / sizeof(float));
  const tutti::bench::Call call{.send = send_.data(),
                                .recv = recv_.data(),
                                .count = counts_.front(),
                                .counts = counts_.data(),
                                .type = TUTTI_FLOAT32,
                                .op = TUTTI_SUM,
                                .root = 0,
                                .rank = rank_,
                                .ranks = job_.ranks,
                                .comm = contestants_[contestant].comm};
  TUTTI_RETURN_IF_ERROR(status_of(tutti_barrier(control_)));
  const double begin = tutti::now_s();
  for (size_t i = 0; i < calls; ++i) {
    TUTTI_RETURN_IF_ERROR(status_of(current.collective->blocking(call)));
  }
  seconds = (tutti::now_s() - begin) / static_cast<double>(calls);
  return {};
}

// Each becomes that of the rank where it is the greatest.
Status Tuner::slowest(std::vector<double>& seconds) {
  return status_of(tutti_allreduce(seconds.data(), seconds.data(), seconds.size(), TUTTI_FLOAT64,
                                   TUTTI_MAX, control_));
}

// The time left, equal on every rank.
Result<double> Tuner::seconds_left() {
  std::vector<double> spent = {tutti::now_s() - begin_s_};
  TUTTI_RETURN_IF_ERROR(slowest(spent));
  return job_.seconds - spent.front();
}

// Finds out who competes, and about how long a call of each takes.
Status Tuner::qualify(const Case& current, Race& race) {
  double ignored = 0;
  contestants_.front().contenders.clear();
  TUTTI_RETURN_IF_ERROR(run_calls(current, 0, 1, ignored));
  race.names = contestants_.front().contenders;
  race.names.resize(std::min(race.names.size(), kContestants));
  if (race.names.empty()) {
    return Status::format(Code::kInternal, "no tuner was asked for the algorithm of {}",
                          current.collective->name);
  }
  race.first.resize(race.names.size());
  for (size_t i = 0; i < race.names.size(); ++i) {
    // Makes the plan and warms up.
    if (i > 0) TUTTI_RETURN_IF_ERROR(run_calls(current, i, 1, ignored));
    TUTTI_RETURN_IF_ERROR(run_calls(current, i, 1, race.first[i]));
  }
  TUTTI_RETURN_IF_ERROR(slowest(race.first));
  for (size_t i = 0; i < race.names.size(); ++i) {
    const double calls = std::min(kFirstSampleSeconds / std::max(race.first[i], 1e-9), kFewCalls);
    if (calls < 2) continue;
    TUTTI_RETURN_IF_ERROR(run_calls(current, i, static_cast<size_t>(calls), race.first[i]));
  }
  return slowest(race.first);
}

// In turn, so that all meet the same disturbances. Those that are beaten already run no more. If
// three rounds would take more than all the time left, the first look must do.
Status Tuner::compete(const Case& current, double seconds, double left_s, Race& race) {
  const size_t count = race.names.size();
  const double least = *std::ranges::min_element(race.first);
  std::vector<size_t> racing = {0};  // the cost model's choice in any case
  double turn_s = race.first[0];
  for (size_t i = 1; i < count; ++i) {
    if (race.first[i] > kBeaten * least) continue;
    racing.push_back(i);
    turn_s += race.first[i];
  }
  if (kFewRounds * turn_s > left_s) {
    for (const double first : race.first) race.seconds.push_back({first});
    return {};
  }
  const auto fitting = static_cast<size_t>(std::max(0.0, seconds / turn_s));
  const size_t rounds = fitting >= kRounds ? kRounds : kFewRounds;
  const double sample_s = seconds / static_cast<double>(rounds * racing.size());
  std::vector<double> samples(count * rounds);
  for (size_t round = 0; round < rounds; ++round) {
    for (const size_t i : racing) {
      const double calls = std::clamp(sample_s / std::max(race.first[i], 1e-9), 1.0, kMostCalls);
      TUTTI_RETURN_IF_ERROR(
          run_calls(current, i, static_cast<size_t>(calls), samples[i * rounds + round]));
    }
  }
  TUTTI_RETURN_IF_ERROR(slowest(samples));
  for (size_t i = 0; i < count; ++i) {
    const auto begin = samples.begin() + static_cast<ptrdiff_t>(i * rounds);
    race.seconds.emplace_back(begin, begin + static_cast<ptrdiff_t>(rounds));
    if (std::ranges::find(racing, i) == racing.end()) {
      race.seconds.back().assign(rounds, race.first[i]);
    }
  }
  return {};
}

// Nothing if there is no time left.
Result<std::optional<Contest>> Tuner::measure(size_t i) {
  const Case& current = cases_[i];
  double weight = 0;
  for (size_t later = i; later < cases_.size(); ++later) weight += cases_[later].weight;
  TUTTI_ASSIGN_OR_RETURN(auto left, seconds_left());
  if (left <= 0) return std::optional<Contest>();
  const double mine = left * current.weight / weight;
  Race race;
  TUTTI_RETURN_IF_ERROR(qualify(current, race));
  TUTTI_ASSIGN_OR_RETURN(auto still_left, seconds_left());
  TUTTI_RETURN_IF_ERROR(compete(current, mine - (left - still_left), still_left, race));
  Contest contest;
  contest.bytes = current.bytes;
  contest.seconds = std::move(race.seconds);
  for (const tutti::Algorithm* algorithm : tutti::algorithms()) {
    if (collective_name(algorithm->collective) == current.collective->name) {
      contest.collective = algorithm->collective;
    }
  }
  for (const std::string& name : race.names) {
    contest.algorithms.push_back(tutti::find_algorithm(contest.collective, name));
  }
  return std::optional(std::move(contest));
}

void print_row(const Contest& contest) {
  const size_t winner = winner_of(contest.seconds);
  const double best = median(contest.seconds[winner]);
  const double untuned = median(contest.seconds.front());
  fmt::print("{:<15} {:>9}  {:<20} {:>10.2f}  {:<20} {:>10.2f}  {:>6}\n",
             collective_name(contest.collective), contest.bytes, contest.algorithms[winner]->name,
             best * 1e6, contest.algorithms.front()->name, untuned * 1e6,
             winner == 0 ? "" : fmt::format("{:.2f} x", untuned / best));
  std::fflush(stdout);
}

Result<std::string> Tuner::run() {
  const bool speaks = rank_ == 0;
  if (speaks) {
    fmt::print("{:<15} {:>9}  {:<20} {:>10}  {:<20} {:>10}  {:>6}\n", "collective", "bytes",
               "fastest", "us", "cost model", "us", "gain");
  }
  begin_s_ = tutti::now_s();
  std::vector<Contest> contests;
  for (size_t i = 0; i < cases_.size(); ++i) {
    const std::string name(cases_[i].collective->name);
    if (speaks) {
      tutti::show_progress(
          fmt::format("{} of {}: {}, {} bytes", i + 1, cases_.size(), name, cases_[i].bytes));
    }
    auto contest = measure(i);
    if (speaks) tutti::show_progress("");
    if (!contest.ok()) return contest.status().with_context(name);
    if (!contest->has_value()) continue;
    if (speaks) print_row(**contest);
    contests.push_back(**std::move(contest));
  }
  std::ranges::stable_sort(contests, {}, &Contest::collective);
  if (speaks && contests.size() < cases_.size()) {
    fmt::print("No time was left for {} of {} kinds of call: --total-seconds gives more.\n",
               cases_.size() - contests.size(), cases_.size());
  }
  return speaks ? print_contests(contests) : "";
}

}  // namespace

Result<std::string> measure(const Job& job) {
  Tuner tuner(job);
  TUTTI_RETURN_IF_ERROR(tuner.open());
  return tuner.run();
}

}  // namespace tutti::tune
