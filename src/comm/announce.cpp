// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/announce.hpp"

#include <fmt/format.h>
#include <tutti/version.h>

#include <atomic>
#include <bit>
#include <set>
#include <tuple>

#include "core/fields.hpp"
#include "core/log.hpp"

namespace tutti {
namespace {

std::string text_of(const Candidate& candidate) {
  const std::string_view name = candidate.algorithm->name;
  if (!candidate.applies) return fmt::format("{}: {}", name, candidate.why_not);
  return fmt::format("{}: {:.2f} us", name, candidate.seconds * 1e6);
}

// "by cost model (inline: 0.31 us, one_shot: 0.52 us, ring: needs several hosts)".
std::string reasons_of(const Choice& choice) {
  std::string text = "by " + choice.origin;
  if (!choice.note.empty()) text += fmt::format(" ({})", choice.note);
  for (const Candidate& candidate : choice.candidates) {
    text += (&candidate == &choice.candidates.front() ? "; " : ", ") + text_of(candidate);
  }
  return text;
}

std::string subject_of(const Problem& problem) {
  const std::string size =
      problem.known_to_all() ? fmt::format("{} B", problem.bytes()) : "uneven blocks";
  return fmt::format("{} of {} ({}) on {} ranks", collective_name(problem.collective), size,
                     type_name(problem.type), problem.ranks);
}

// Plans are made by one thread at a time.
class Aloud {
 public:
  Aloud(Selector selector, std::string named, DemandNote* note)
      : selector_(std::move(selector)), named_(std::move(named)), note_(note) {}

  Chosen operator()(const Problem& problem) {
    const Chosen chosen = selector_.choose(problem);
    note_demand(problem);
    if (!log::enabled(LogLevel::kInfo) || chosen.algorithm == nullptr) return chosen;
    if (log::enabled(LogLevel::kDebug)) {
      log::debug("{}: {}: {} {}", named_, subject_of(problem), chosen.algorithm->name,
                 reasons_of(selector_.explain(problem)));
    } else if (is_new(problem, *chosen.algorithm)) {
      log::info("{}: {}: {}", named_, subject_of(problem), chosen.algorithm->name);
    }
    return chosen;
  }

 private:
  void note_demand(const Problem& problem) {
    if (note_ == nullptr) return;
    const std::optional<Demanded> demanded = selector_.demanded(problem);
    if (!demanded) return;
    const double lost_s = demanded->named.seconds - demanded->best.seconds;
    if (lost_s <= most_lost_s_) return;
    most_lost_s_ = lost_s;
    Demand demand;
    demand.call.collective = static_cast<uint8_t>(problem.collective);
    demand.call.type = static_cast<uint8_t>(problem.type);
    demand.call.count = problem.count;
    demand.seconds = demanded->named.seconds;
    demand.best_seconds = demanded->best.seconds;
    put_text(demand.variable, demanded->variable);
    put_text(demand.algorithm, demanded->named.algorithm->name);
    put_text(demand.best, demanded->best.algorithm->name);
    note_->post(demand);
  }
  // Sizes of one power of two count as one.
  bool is_new(const Problem& problem, const Algorithm& algorithm) {
    return told_.emplace(&algorithm, problem.ranks, std::bit_width(problem.bytes())).second;
  }

  const Selector selector_;
  const std::string named_;
  DemandNote* const note_;
  double most_lost_s_ = 0;
  std::set<std::tuple<const Algorithm*, int, int>> told_;
};

}  // namespace

void announce(const std::string& name, int ranks, const Connection& connection) {
  static std::atomic<bool> told{false};
  const LogLevel level = told.exchange(true) ? LogLevel::kDebug : LogLevel::kInfo;
  const int hosts = connection.joined == nullptr ? 1 : connection.joined->hosts().count();
  log::message(level, "{}: Tutti {}.{}.{}, {} rank{} on {} host{}, transport {}", name,
               TUTTI_VERSION_MAJOR, TUTTI_VERSION_MINOR, TUTTI_VERSION_PATCH, ranks,
               ranks == 1 ? "" : "s", hosts, hosts == 1 ? "" : "s", connection.transport->name());
}

Choose choose_aloud(Selector selector, std::string named, DemandNote* note) {
  const auto aloud = std::make_shared<Aloud>(std::move(selector), std::move(named), note);
  return [aloud](const Problem& problem) { return (*aloud)(problem); };
}

}  // namespace tutti
