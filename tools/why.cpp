// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti why: what the processes of a job are doing, and who keeps whom waiting. It looks from
// outside, at shared memory and /proc, and changes nothing.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "core/json_text.hpp"
#include "core/wait.hpp"
#include "exec/wait_reporter.hpp"
#include "inspect/slow.hpp"
#include "tools/checks.hpp"
#include "tools/inside.hpp"
#include "tools/stack.hpp"

namespace {

using tutti::inspect::Communicator;
using tutti::inspect::Finding;
using tutti::inspect::Job;
using tutti::inspect::Outcome;
using tutti::inspect::Process;
using tutti::inspect::RankView;
using tutti::inspect::Verdict;
using Json = nlohmann::ordered_json;

// Between two looks: what moves does so several times, also the count of processor time.
constexpr useconds_t kPauseUs = 150'000;
// Between two samples of what the processes wait for.
constexpr useconds_t kSampleUs = 7'000;
constexpr int kSamplesPerLook = 8;
// Findings behind the first.
constexpr size_t kMostOthers = 7;
constexpr int kNothingToSee = 3;

struct Arguments {
  tutti::inspect::Wanted wanted;
  double hung_after_s = 60;
  bool json = false;
  bool slow = false;
  double for_s = 0.5;
};

int status_of(Outcome outcome) {
  if (outcome == Outcome::kHangs) return 2;
  return outcome == Outcome::kWaits || outcome == Outcome::kSlow ? 1 : 0;
}

// ", for rank 2, 3".
std::string awaited(const Communicator& communicator, const RankView& rank,
                    const tutti::Wait& wait) {
  std::string text;
  size_t count = 0;
  for (const auto& late : tutti::inspect::whom_it_awaits({&communicator, &rank, &wait})) {
    if (++count > kMostOthers) return text + ", ...";
    text += fmt::format("{}{}", text.empty() ? ", for rank " : ", ", late.number);
  }
  return text;
}

std::string doing(const Job& job, const Communicator& communicator, const RankView& rank) {
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
                        describe(wait), job.age_s(wait), awaited(communicator, rank, wait));
  }
  return text;
}

std::string state_of(const RankView& rank, const Process* process) {
  if (process == nullptr) return "not seen";
  // Those that wait may look for news all the time.
  if (process->busy && rank.waits.empty() && !process->state.stopped()) return "computes";
  const std::string text = to_string(process->state);
  return text.starts_with("is ") ? text.substr(3) : text;
}

void print_communicator(const Job& job, const Communicator& communicator) {
  if (!communicator.status.ok()) {
    fmt::print("\na communicator: {}\n", communicator.status.message());
    return;
  }
  const auto& view = communicator.view;
  fmt::print("\n\"{}\" on {}{}{}\n", view.name, tutti_tools::hosts_of(view),
             view.lacks_ranks()
                 ? fmt::format(", where {} of {} ranks are", view.ranks.size(), view.all_ranks)
                 : "",
             view.job.empty() ? "" : fmt::format(", job {}", view.job));
  if (view.stopped) fmt::print("  broken: {}\n", view.cause);
  for (const RankView& rank : view.ranks) {
    const Process* const process = job.process_of(communicator, rank.place);
    fmt::print("  rank {:<4} pid {:<8} {}{:<22} {}\n", rank.rank, rank.pid,
               tutti_tools::host_column(view, rank), state_of(rank, process),
               doing(job, communicator, rank));
  }
  if (view.lacks_ranks()) {
    fmt::print("  the other ranks are not to be seen from here: run tutti why on their hosts\n");
  }
}

void print(const Job& job, const Verdict& verdict, const std::string& stack) {
  fmt::print("{}: {}\n", to_string(verdict.outcome), verdict.text);
  if (!stack.empty()) fmt::print("{}", stack);
  if (!verdict.advice.empty()) fmt::print("  what to do: {}\n", verdict.advice);
  size_t others = 0;
  for (const Finding& finding : verdict.findings) {
    if (verdict.outcome < Outcome::kSlow || finding.text == verdict.text) continue;
    if (++others > kMostOthers) break;
    fmt::print("  also: {}\n", finding.text);
  }
  for (const Communicator& communicator : job.communicators) print_communicator(job, communicator);
  if (verdict.outcome >= Outcome::kWaits) {
    fmt::print("\nnext: tutti trace -o calls.json {}   # the last calls of every rank\n",
               job.processes.front().pid);
  }
}

Json to_json(const Job& job, const Verdict& verdict, const std::string& stack) {
  Json findings = Json::array();
  for (const Finding& finding : verdict.findings) {
    findings.push_back({{"outcome", to_string(finding.outcome)},
                        {"cause", to_string(finding.cause)},
                        {"ranks", finding.ranks},
                        {"text", finding.text},
                        {"advice", finding.advice},
                        {"waited_s", finding.waited_s},
                        {"pid", finding.pid},
                        {"host", finding.host}});
  }
  return {{"verdict",
           {{"outcome", to_string(verdict.outcome)},
            {"status", status_of(verdict.outcome)},
            {"text", verdict.text},
            {"advice", verdict.advice},
            {"stack", stack}}},
          {"findings", findings},
          {"communicators", tutti_tools::communicators_json(job)}};
}

// The stack of the first rank to blame, if its Python can be asked.
std::string stack_of(const Job& job, const Verdict& verdict) {
  if (verdict.outcome < Outcome::kWaits || verdict.findings.empty()) return "";
  const Finding& first = verdict.findings.front();
  const Process* const process = first.host.empty() ? job.process(first.pid) : nullptr;
  const bool can_tell = process != nullptr && is_python(*process) && !process->state.stopped();
  return can_tell ? tutti_tools::python_stack(process->pid) : "";
}

// Looks again at once. Where nobody hangs, what costs the job most.
Verdict verdict_of(Job& job, const Arguments& arguments) {
  if (!arguments.slow) {
    look_again(job);
    return judge(job, arguments.hung_after_s);
  }
  std::vector<Job> looks = {job};
  const bool near = std::ranges::none_of(job.communicators, [](const Communicator& one) {
    return one.status.ok() && one.view.across_hosts();
  });
  tutti::inspect::Watch watch(job);
  const double end_ms = static_cast<double>(tutti::now_ms()) + arguments.for_s * 1000;
  for (int sample = 1; static_cast<double>(tutti::now_ms()) < end_ms; ++sample) {
    watch.sample();
    usleep(kSampleUs);
    // Other hosts are asked twice, and no oftener.
    if (!near || sample % kSamplesPerLook != 0) continue;
    looks.push_back(job);
    look_again(looks.back());
  }
  look_again(job);
  Verdict verdict = judge(job, arguments.hung_after_s);
  if (verdict.outcome >= Outcome::kWaits) return verdict;
  const auto usages = watch.end();
  for (auto look = looks.rbegin(); look != looks.rend(); ++look) remember(*look, job);
  return judge_slow(job, usages, arguments.for_s);
}

void run(const Arguments& given) {
  Arguments arguments = given;
  if (arguments.slow) arguments.wanted = with_all_calls(arguments.wanted);
  std::vector<Job> jobs = find_jobs(arguments.wanted);
  if (jobs.empty()) tutti_tools::nothing_to_see("tutti why", arguments.wanted, kNothingToSee);
  if (!arguments.slow) usleep(kPauseUs);
  Json all = Json::array();
  int status = 0;
  for (Job& job : jobs) {
    const Verdict verdict = verdict_of(job, arguments);
    status = std::max(status, status_of(verdict.outcome));
    const std::string stack = stack_of(job, verdict);
    if (arguments.json) {
      all.push_back(to_json(job, verdict, stack));
      continue;
    }
    if (&job != &jobs.front()) fmt::print("\n");
    print(job, verdict, stack);
  }
  if (arguments.json)
    fmt::print("{}\n", tutti::json_text(Json{{"status", status}, {"jobs", all}}, 2));
  if (status != 0) throw CLI::RuntimeError(status);
}

}  // namespace

void add_why(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* why = app.add_subcommand(
      "why", "What is my job doing? Who waits for whom, in which call, and who is late");
  tutti_tools::add_wanted(*why, arguments->wanted);
  why->add_option("--hung-after", arguments->hung_after_s,
                  "Seconds after which a wait for a rank that lives counts as hung")
      ->check(tutti::zero_or_more())
      ->capture_default_str();
  why->add_flag("--slow", arguments->slow,
                "Of a job that gets on: which rank or what else costs it most, and why");
  why->add_option("--for", arguments->for_s, "With --slow: for how many seconds to look")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  why->add_flag("--json", arguments->json, "Print JSON");
  why->footer(
      "Looks at processes of this user on this host, and asks those on other hosts that share a "
      "communicator with them; changes nothing.\n"
      "Exit status: 0: no rank waits, or the ranks get on; 1: a rank is waited for that may yet "
      "come, or with --slow the job is slowed down; 2: hung: a rank is dead, stopped or in another "
      "call, ranks wait for one another, or "
      "--hung-after has passed; 3: there is no such job, or it may not be looked at.");
  why->callback([arguments] { run(*arguments); });
}
