// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti measure: runs tutti bench in all the ways that tell something about a machine, and leaves
// one page. The page is written anew after each run, so the work can be ended and gone on with.
#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "core/files.hpp"
#include "core/wait.hpp"
#include "tools/checks.hpp"
#include "tools/facts.hpp"
#include "tools/measure_plan.hpp"
#include "tools/need.hpp"
#include "tools/report_page.hpp"

namespace {

using tutti::tools::BenchRun;
using tutti::tools::Report;

constexpr tutti::Need kNeed{"tutti measure"};
constexpr size_t kMostErrorBytes = 2000;
// The time that a case takes besides its measuring, until that is known.
constexpr double kFirstGuessSeconds = 0.5;

struct Arguments {
  tutti::tools::MeasureOptions options;
  std::string output = "tutti-measure.html";
  double minutes = 60;
  bool dry_run = false;
};

volatile std::sig_atomic_t ended_by = 0;

void note_signal(int number) { ended_by = number; }

// ---- one run -----------------------------------------------------------------------------------

[[noreturn]] void become(const BenchRun& run, int output, int errors) {
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  if (!run.cores.empty()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : run.cores) CPU_SET(static_cast<size_t>(core), &set);
    sched_setaffinity(0, sizeof set, &set);
  }
  for (const auto& [name, value] : run.variables) setenv(name.c_str(), value.c_str(), 1);
  std::vector<std::string> words = {"tutti"};
  words.insert(words.end(), run.words.begin(), run.words.end());
  words.emplace_back("--json");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv("/proc/self/exe", argv.data());
  _exit(127);
}

std::string contents(FILE* file) {
  std::string text;
  std::array<char, 4096> buffer{};
  std::rewind(file);
  for (size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), file)) > 0;) {
    text.append(buffer.data(), got);
  }
  return text;
}

struct Close {
  void operator()(FILE* file) const { (void)std::fclose(file); }
};
using File = std::unique_ptr<FILE, Close>;

std::string how_it_ended(int status) {
  return WIFSIGNALED(status)
             ? fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
             : fmt::format("status {}", WEXITSTATUS(status));
}

// The part of the page about a run.
Report measure(const BenchRun& run) {
  Report report = {{"label", run.label}, {"command", run.command()}};
  const File output(std::tmpfile());
  const File errors(std::tmpfile());
  if (output == nullptr || errors == nullptr) {
    kNeed(tutti::Status::system(errno, "making a temporary file"));
  }
  const pid_t child = fork();
  if (child < 0) kNeed(tutti::Status::system(errno, "starting a process"));
  if (child == 0) become(run, fileno(output.get()), fileno(errors.get()));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    if (ended_by != 0) kill(child, SIGTERM);
  }
  Report bench = Report::parse(contents(output.get()), nullptr, false);
  if (status == 0 && bench.is_object()) {
    for (Report& result : bench["results"]) result.erase("us_per_rank");  // one page for all ranks
    report["bench"] = std::move(bench);
  } else {
    std::string text = contents(errors.get());
    if (text.size() > kMostErrorBytes) text.erase(0, text.size() - kMostErrorBytes);
    report["error"] = fmt::format("{}: {}", how_it_ended(status), text);
  }
  return report;
}

// ---- all of them -------------------------------------------------------------------------------

void write(const std::string& path, const Report& report) {
  kNeed(tutti::replace_file(path, tutti::tools::page_of(report), tutti::kPublicFile));
}

// A machine, as far as its figures belong on one page.
Report machine_of(const Report& report) {
  for (const Report& run : report.at("runs")) {
    if (!run.contains("bench")) continue;
    const Report& machine = run["bench"].at("machine");
    return {{"topology", machine.at("topology")},
            {"cores", machine.at("cores")},
            {"version", run["bench"].at("version")}};
  }
  return nullptr;
}

Report report_to_go_on_with(const std::string& path) {
  Report report = {{"runs", Report::array()}, {"missing", 0}};
  if (!std::filesystem::exists(path)) return report;
  report = kNeed(tutti::tools::read_report(path));
  const Report before = machine_of(report);
  const Report now = {{"topology", collect_topology()},
                      {"cores", collect_cores()},
                      {"version", tutti_version_string()}};
  if (!before.is_null() && before != now) {
    kNeed.fail(
        fmt::format("{} is of another machine, other cores, or another version of Tutti; "
                    "expected a new file in --output",
                    path));
  }
  std::erase_if(report["runs"].get_ref<Report::array_t&>(),
                [](const Report& run) { return run.contains("error"); });
  return report;
}

bool has(const Report& report, const BenchRun& run) {
  return std::ranges::any_of(report.at("runs"), [&](const Report& made) {
    return made.at("label") == run.label && made.at("command") == run.command();
  });
}

std::string time_left(double s) {
  return s < 90 ? fmt::format("{:.0f} s", s) : fmt::format("{:.0f} min", s / 60);
}

void run(const Arguments& arguments) {
  const auto plan = tutti::tools::measure_plan(tutti::tools::measured_machine(), arguments.options);
  if (arguments.dry_run) {
    for (const BenchRun& run : plan) fmt::print("{:<40} {}\n", run.label, run.command());
    return;
  }
  Report report = report_to_go_on_with(arguments.output);
  std::vector<const BenchRun*> left;
  size_t cases = 0;
  for (const BenchRun& run : plan) {
    if (has(report, run)) continue;
    left.push_back(&run);
    cases += run.cases;
  }
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, note_signal);
  const int64_t begun_ms = tutti::host_ms();
  size_t done = 0;
  size_t made = 0;
  for (; made < left.size() && ended_by == 0; ++made) {
    const double spent_s = static_cast<double>(tutti::host_ms() - begun_ms) / 1000;
    if (made > 0 && spent_s > arguments.minutes * 60) break;
    const BenchRun& next = *left[made];
    const double each_s = done > 0 ? spent_s / static_cast<double>(done)
                                   : arguments.options.seconds + kFirstGuessSeconds;
    fmt::print(stderr, "{} of {}: {} (about {} left)\n", made + 1, left.size(), next.command(),
               time_left(each_s * static_cast<double>(cases - done)));
    Report result = measure(next);
    if (ended_by != 0) break;
    if (result.contains("error")) fmt::print(stderr, "{}\n", result["error"].get<std::string>());
    report["runs"].push_back(std::move(result));
    done += next.cases;
    report["missing"] = left.size() - made - 1;
    write(arguments.output, report);
  }
  const size_t missing = left.size() - made;
  fmt::print(
      "{}: {} runs{}\n", arguments.output, report["runs"].size(),
      missing == 0 ? "" : fmt::format(", {} still to be made: the same command goes on", missing));
  if (ended_by != 0) throw CLI::RuntimeError(128 + ended_by);
}

}  // namespace

void add_measure(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* measure = app.add_subcommand(
      "measure", "Measure this machine in every way that matters; one page to send");
  measure->option_defaults()->always_capture_default();
  measure->add_option("-o,--output", arguments->output, "The page")->check(tutti::writable_file());
  measure->add_option("--minutes", arguments->minutes, "Begin no run after so long")
      ->check(tutti::zero_or_more());
  measure
      ->add_option("-n,--ranks", arguments->options.ranks,
                   "Only these numbers of ranks, e.g. 2,8; default 2, 4, ... and all cores")
      ->check(CLI::Range(1, 65536))
      ->delimiter(',');
  measure->add_option("--seconds", arguments->options.seconds, "Time per size")
      ->check(tutti::above_zero());
  measure->add_option("-t,--max", arguments->options.most_bytes, "Largest size in bytes, e.g. 64M")
      ->transform(tutti::size_in_bytes());
  measure->add_flag("--dry-run", arguments->dry_run, "Print the runs, and make none");
  measure->footer(
      "It may be ended (Ctrl-C) and typed again: it goes on with what the page lacks, and with "
      "runs that failed. Every run is a tutti bench, whose results are checked. Nothing else "
      "should run on the machine meanwhile.");
  measure->callback([arguments] { run(*arguments); });
}
