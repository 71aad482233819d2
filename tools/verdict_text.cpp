// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/verdict_text.hpp"

#include <fmt/format.h>

#include "exec/wait_reporter.hpp"
#include "tools/inside.hpp"
#include "tools/stack.hpp"

namespace tutti::tools {
namespace {

using namespace tutti::inspect;
using Json = nlohmann::ordered_json;

// Findings behind the first.
constexpr size_t kMostOthers = 7;

// ", for rank 2, 3".
std::string awaited(const Job& job, const Communicator& communicator, const RankSnapshot& rank,
                    const tutti::Wait& wait) {
  std::string text;
  size_t count = 0;
  for (const auto& late : whom_it_awaits(job, {&communicator, &rank, &wait})) {
    if (++count > kMostOthers) return text + ", ...";
    text += fmt::format("{}{}", text.empty() ? ", for rank " : ", ", late.number);
  }
  return text;
}

std::string doing(const Job& job, const Communicator& communicator, const RankSnapshot& rank) {
  if (rank.left) return "has destroyed the communicator";
  if (!rank.answers) return fmt::format("does not answer, silent for {:.1f} s", rank.silent_s);
  if (rank.waits.empty()) return last_of(job, communicator, rank);
  std::string text;
  for (const tutti::Wait& wait : rank.waits) {
    const bool in_function = wait.kind == tutti::WaitKind::kFunction;
    text += fmt::format("{}{} {} for {:.1f} s{}", text.empty() ? "" : "; ",
                        in_function         ? "is in"
                        : wait.started != 0 ? "has started"
                                            : "waits in",
                        describe(wait), job.age_s(wait), awaited(job, communicator, rank, wait));
  }
  return text;
}

std::string state_of(const RankSnapshot& rank, const Process* process) {
  if (process == nullptr) return "not seen";
  // Ranks that wait may look for news all the time.
  if (process->busy && rank.waits.empty() && !process->state.stopped()) return "computes";
  const std::string text = to_string(process->state);
  return text.starts_with("is ") ? text.substr(3) : text;
}

std::string text_of(const Job& job, const Communicator& communicator) {
  if (!communicator.status.ok()) {
    return fmt::format("\na communicator: {}\n", communicator.status.message());
  }
  const auto& snapshot = communicator.snapshot;
  std::string text = fmt::format(
      "\n\"{}\" on {}{}{}\n", snapshot.name, hosts_of(snapshot),
      snapshot.lacks_ranks()
          ? fmt::format(", where {} of {} ranks are", snapshot.ranks.size(), snapshot.all_ranks)
          : "",
      snapshot.job.empty() ? "" : fmt::format(", job {}", snapshot.job));
  if (snapshot.stopped) text += fmt::format("  broken: {}\n", snapshot.cause);
  for (const RankSnapshot& rank : snapshot.ranks) {
    const Process* const process = job.process_of(communicator, rank.place);
    text += fmt::format("  rank {:<4} pid {:<8} {}{:<22} {}\n", rank.rank, rank.pid,
                        host_column(snapshot, rank), state_of(rank, process),
                        doing(job, communicator, rank));
  }
  if (snapshot.lacks_ranks()) {
    text += "  the other ranks are not to be seen from here: run tutti why on their hosts\n";
  }
  return text;
}

}  // namespace

std::string to_text(const Job& job, const Verdict& verdict, const std::string& stack) {
  std::string text = fmt::format("{}: {}\n{}", to_string(verdict.outcome), verdict.text, stack);
  if (!verdict.advice.empty()) text += fmt::format("  what to do: {}\n", verdict.advice);
  size_t others = 0;
  for (const Finding& finding : verdict.findings) {
    if (verdict.outcome < Outcome::kSlow || finding.text == verdict.text) continue;
    if (++others > kMostOthers) break;
    text += fmt::format("  also: {}\n", finding.text);
  }
  for (const Communicator& communicator : job.communicators) text += text_of(job, communicator);
  if (verdict.outcome >= Outcome::kWaits) {
    text += fmt::format("\nnext: tutti trace -o calls.json {}   # the last calls of every rank\n",
                        job.processes.front().pid);
  }
  return text;
}

Json to_json(const Job& job, const Verdict& verdict, const std::string& stack, int status) {
  Json findings = Json::array();
  for (const Finding& finding : verdict.findings) {
    findings.push_back({{"outcome", to_string(finding.outcome)},
                        {"cause", to_string(finding.cause)},
                        {"ranks", finding.ranks},
                        {"call", finding.call},
                        {"text", finding.text},
                        {"advice", finding.advice},
                        {"waited_s", finding.waited_s},
                        {"pid", finding.pid},
                        {"host", finding.host}});
  }
  return {{"verdict",
           {{"outcome", to_string(verdict.outcome)},
            {"status", status},
            {"text", verdict.text},
            {"advice", verdict.advice},
            {"stack", stack}}},
          {"findings", findings},
          {"communicators", communicators_json(job)}};
}

std::string stack_of(const Job& job, const Verdict& verdict) {
  if (verdict.outcome < Outcome::kWaits || verdict.findings.empty()) return "";
  const Finding& first = verdict.findings.front();
  const Process* const process = first.host.empty() ? job.process(first.pid) : nullptr;
  const bool can_tell = process != nullptr && is_python(*process) && !process->state.stopped();
  return can_tell ? python_stack(process->pid) : "";
}

}  // namespace tutti::tools
