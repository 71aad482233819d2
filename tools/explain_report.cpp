// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The answer of tutti explain, as text, JSON or a picture.
#include "tools/explain_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/json_text.hpp"
#include "exec/plan.hpp"
#include "sched/traits.hpp"
#include "tools/pictures/schedules.hpp"

namespace {

using Json = nlohmann::ordered_json;
using namespace tutti;

// More steps than these are abbreviated.
constexpr size_t kShownFirst = 30;
constexpr size_t kShownLast = 10;

// The applicable first, cheapest first.
std::vector<Candidate> ranking(std::vector<Candidate> candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) {
                     return a.applies != b.applies ? a.applies : a.seconds < b.seconds;
                   });
  return candidates;
}

// Whether it reads the buffers of peers where they lie, instead of going through staging.
bool reads_peers(const Candidate& candidate, const Problem& problem) {
  if (!candidate.applies || candidate.algorithm->build == nullptr) return false;
  return build_schedule(*candidate.algorithm, problem).exports_buffers;
}

std::string why(const Candidate& candidate, const tutti::Choice& choice) {
  if (candidate.algorithm == choice.algorithm) return "chosen";
  if (!candidate.applies) return std::string(candidate.why_not);
  for (const Candidate& other : choice.candidates) {
    if (other.algorithm != choice.algorithm || other.seconds <= 0) continue;
    const double ratio = candidate.seconds / other.seconds;
    if (candidate.algorithm == choice.other_route) {
      return fmt::format("other arm, predicted to take {:.2f} times as long: calls time both",
                         ratio);
    }
    if (ratio >= 1) return fmt::format("predicted to take {:.2f} times as long", ratio);
    return fmt::format("predicted to take {:.2f} of the time, but {} decides", ratio,
                       choice.origin);
  }
  return "";
}

void print_steps(const Schedule& schedule, int rank) {
  fmt::print("\nSteps of rank {}: {} of them, {} bytes of private memory\n", rank,
             schedule.steps.size(), schedule.scratch_bytes);
  const size_t steps = schedule.steps.size();
  const bool all = steps <= kShownFirst + kShownLast;
  for (size_t i = 0; i < steps; ++i) {
    if (!all && i == kShownFirst) {
      fmt::print("      ... {} more ...\n", steps - kShownFirst - kShownLast);
      i = steps - kShownLast;
    }
    fmt::print("{:>6}  {}\n", i, to_string(schedule.steps[i], schedule));
  }
  if (steps == 0) {
    fmt::print("        nothing to do\n");
  } else if (schedule.ticks > 0) {
    fmt::print("        {}\n", to_string(traits_of(schedule)));
  }
}

std::string text_of(const tutti::Phase& phase, uint32_t element_bytes) {
  const bool on_host = phase.scope == tutti::Scope::kHost;
  std::string text = fmt::format("{:<7} ", on_host ? "host" : "column");
  if (!phase.moves.empty() && !phase.moves[0].others.empty()) {
    text +=
        fmt::format("reduces {} blocks of its own of {} B -> {}", phase.moves[0].others.size() + 1,
                    phase.moves[0].bytes, to_string(phase.moves[0].to));
  } else if (!phase.moves.empty()) {
    text += fmt::format("copies of its own, {}, the first {} -> {}", phase.moves.size(),
                        to_string(phase.moves[0].from), to_string(phase.moves[0].to));
  } else {
    text += collective_name(phase.collective);
    const tutti::BufferBlocks blocks = blocks_of(phase.collective, true);
    if (phase.count > 0) text += fmt::format(" of {} B:", phase.count * element_bytes);
    if (blocks.send != tutti::Blocks::kNone) text += fmt::format(" {} ->", to_string(phase.send));
    if (blocks.recv != tutti::Blocks::kNone) text += fmt::format(" {}", to_string(phase.recv));
    if (phase.root >= 0) text += fmt::format(", root {}", phase.root);
  }
  if (phase.after > 0) {
    text += fmt::format(", after {} {} of the {}", phase.after,
                        phase.after == 1 ? "phase" : "phases", on_host ? "column" : "host");
  }
  return text;
}

// The phases of a composition, instead of steps.
std::vector<std::string> phases_of(const tutti::Algorithm& algorithm, const Problem& problem) {
  std::vector<std::string> texts;
  for (const tutti::Phase& phase : algorithm.compose(problem).phases) {
    texts.push_back(text_of(phase, problem.element_bytes));
  }
  return texts;
}

std::string headline(const ExplainOptions& options, const Problem& problem) {
  const tutti::BufferBlocks blocks = blocks_of(problem.collective, true);
  return fmt::format("{} of {} x {} ({} bytes{}) on {} rank{}", options.collective, problem.count,
                     options.type, problem.bytes(),
                     problem.ranks > 1 && (blocks.send == tutti::Blocks::kPerRank ||
                                           blocks.recv == tutti::Blocks::kPerRank)
                         ? " per block"
                         : "",
                     problem.ranks, problem.ranks == 1 ? "" : "s") +
         (options.hosts > 1 ? fmt::format(" of {} hosts", options.hosts) : "") +
         (options.shared ? " in memory of tutti_alloc" : "") +
         (options.device ? " in memory of a device" : "") +
         (problem.cache_domains != nullptr ? fmt::format(" of {} domains", options.domains) : "") +
         (problem.ranks <= options.cores || options.hosts > 1
              ? ""
              : fmt::format(" that share {} core{}", options.cores, options.cores == 1 ? "" : "s"));
}

}  // namespace

void print_text(const ExplainOptions& options, const Problem& problem, const tutti::Choice& choice,
                const tutti::NetworkFigures* network) {
  fmt::print("{}\n\n{}, by {}: {}\n", headline(options, problem), choice.algorithm->name,
             choice.origin, choice.algorithm->summary);
  if (!choice.note.empty()) fmt::print("{}\n", choice.note);
  if (network != nullptr) {
    fmt::print("network: {}; communicators measure theirs: see CCL_LOG_LEVEL=info\n",
               to_string(*network));
  }
  fmt::print("\n{:<20} {:>13}\n", "algorithm", "predicted");
  for (const Candidate& candidate : ranking(choice.candidates)) {
    const std::string time =
        candidate.applies ? fmt::format("{:.2f} us", candidate.seconds * 1e6) : "-";
    fmt::print("{:<20} {:>13}  {}{}\n", candidate.algorithm->name, time, why(candidate, choice),
               reads_peers(candidate, problem) ? "; reads its peers' buffers" : "");
  }
  if (choice.with_other_stores != nullptr) {
    fmt::print("{:<20} {:>13}  timed by calls as well: {} writes the receive buffer {}\n", "", "",
               choice.with_other_stores->name, kind_of_stores(with_other_stores(problem)));
  }
  if (choice.algorithm->compose == nullptr) {
    return print_steps(build_schedule(*choice.algorithm, problem), problem.rank);
  }
  fmt::print("\nPhases of rank {}, those within the host and those along its column side by side\n",
             problem.rank);
  for (const std::string& phase : phases_of(*choice.algorithm, problem)) {
    fmt::print("        {}\n", phase);
  }
}

void print_json(const ExplainOptions& options, const Problem& problem, const tutti::Choice& choice,
                const tutti::NetworkFigures* network) {
  Json candidates = Json::array();
  for (const Candidate& candidate : ranking(choice.candidates)) {
    Json entry = {{"algorithm", candidate.algorithm->name},
                  {"applies", candidate.applies},
                  {"reads_peers", reads_peers(candidate, problem)},
                  {"why", why(candidate, choice)}};
    if (candidate.applies) entry["seconds"] = candidate.seconds;
    candidates.push_back(std::move(entry));
  }
  const bool composed = choice.algorithm->compose != nullptr;
  const Schedule schedule = composed ? Schedule() : build_schedule(*choice.algorithm, problem);
  Json steps = Json::array();
  for (const tutti::Step& step : schedule.steps) steps.push_back(to_string(step, schedule));
  Json report = {
      {"collective", options.collective},
      {"ranks", problem.ranks},
      {"hosts", options.hosts},
      {"rank", problem.rank},
      {"root", problem.root},
      {"type", options.type},
      {"bytes", problem.bytes()},
      {"shared", options.shared},
      {"device", options.device},
      {"algorithm", choice.algorithm->name},
      {"origin", choice.origin},
      {"note", choice.note},
      {"candidates", std::move(candidates)},
      {"scratch_bytes", schedule.scratch_bytes},
      {"ticks", schedule.ticks},
      {"traits", composed ? "" : to_string(traits_of(schedule))},
      {"steps", std::move(steps)},
      {"phases", composed ? phases_of(*choice.algorithm, problem) : std::vector<std::string>()}};
  if (choice.with_other_stores != nullptr) {
    report["timed_as_well"] = {{"algorithm", choice.with_other_stores->name},
                               {"stores", kind_of_stores(with_other_stores(problem))}};
  }
  if (network != nullptr) {
    report["network"] = {{"message_s", network->message_s},
                         {"line_byte_s", network->line_byte_s},
                         {"origin", network->origin}};
  }
  fmt::print("{}\n", tutti::json_text(report, 2));
}

std::string picture(const ExplainOptions& options, Problem problem,
                    const tutti::Algorithm& algorithm) {
  std::vector<Schedule> schedules;
  for (problem.rank = 0; problem.rank < problem.ranks; ++problem.rank) {
    schedules.push_back(build_schedule(algorithm, problem));
  }
  return draw_schedules(schedules,
                        fmt::format("{}: {}", algorithm.name, headline(options, problem)));
}
