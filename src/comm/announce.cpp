// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/announce.hpp"

#include <fmt/format.h>
#include <tutti/version.h>

#include <atomic>
#include <bit>
#include <set>
#include <tuple>

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
  Aloud(Selector selector, std::string named)
      : selector_(std::move(selector)), named_(std::move(named)) {}

  Chosen operator()(const Problem& problem) {
    const Chosen chosen = selector_.choose(problem);
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
  // Sizes of one power of two count as one.
  bool is_new(const Problem& problem, const Algorithm& algorithm) {
    return told_.emplace(&algorithm, problem.ranks, std::bit_width(problem.bytes())).second;
  }

  const Selector selector_;
  const std::string named_;
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

Choose choose_aloud(Selector selector, std::string named) {
  const auto aloud = std::make_shared<Aloud>(std::move(selector), std::move(named));
  return [aloud](const Problem& problem) { return (*aloud)(problem); };
}

}  // namespace tutti
