// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti bench: how long collectives take, and whether their results are right. Communicates through
// the public C API alone.
#include <fmt/format.h>
#include <tutti/tutti.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "core/files.hpp"
#include "tools/bench/cases.hpp"
#include "tools/bench/report.hpp"
#include "tools/bench/runner.hpp"
#include "tools/bench/session.hpp"
#include "tools/checks.hpp"
#include "tools/facts.hpp"
#include "tools/help.hpp"
#include "tools/need.hpp"
#include "tools/pictures/curves.hpp"
#include "tools/pictures/svg.hpp"
#include "tools/progress.hpp"

namespace {

using namespace tutti::bench;

struct Options {
  Wanted wanted;
  int ranks = 0;
  Plan plan;
  std::string form = "blocking";
  std::string device;
  int device_index = 0;
  bool json = false;
  std::string output;
  std::string csv;
  std::string plot;
};

constexpr tutti::Need need{"tutti bench"};

[[noreturn]] void fail(const std::string& text) { need.fail(text); }

// ---- measuring -------------------------------------------------------------------------------

struct Results {
  std::vector<Measurement> measurements;
  std::vector<SkippedCase> skipped;
};

// The case after all those of the same table.
size_t next_table(const std::vector<Case>& cases, size_t i) {
  const Case& first = cases[i];
  while (i < cases.size() && same_table(cases[i], first)) ++i;
  return i;
}

// Prints the table, unless `json` is printed at the end.
Results measure_all(const std::vector<Case>& cases, const Session& session, const Plan& plan,
                    bool json) {
  Runner runner(session.comm, session.rank, session.ranks, plan);
  Results results;
  const bool first = session.rank == 0;
  const bool speaks = first && !json;
  for (size_t i = 0; i < cases.size();) {
    const Case& current = cases[i];
    if (first) {
      tutti::show_progress(fmt::format("{} of {}: {}, {} bytes", i + 1, cases.size(),
                                       series_name(current), current.bytes()));
    }
    auto result = runner.run(current);
    if (first) tutti::show_progress("");
    if (!result.ok()) {
      fail(fmt::format("rank {}: {}", session.rank, result.status().message()));
    }
    if (const auto* skipped = std::get_if<Skipped>(&*result)) {
      results.skipped.push_back({series_name(current), skipped->reason});
      if (speaks) fmt::print("\n# {}: skipped: {}\n", series_name(current), skipped->reason);
      i = next_table(cases, i);
      continue;
    }
    results.measurements.push_back(std::get<Measurement>(*std::move(result)));
    if (speaks) {
      const bool opens = i == 0 || !same_table(cases[i - 1], current);
      fmt::print("{}{}", opens ? table_head(current) : "", table_row(results.measurements.back()));
      std::fflush(stdout);
    }
    ++i;
  }
  return results;
}

// ---- files -----------------------------------------------------------------------------------

std::string plot(const Heading& heading, const std::vector<Measurement>& measurements) {
  std::vector<tutti::Curve> curves;
  for (const Measurement& m : measurements) {
    const std::string name = series_name(m.measured);
    if (m.measured.bytes() == 0 || m.all.median <= 0) continue;  // not on a logarithmic axis
    if (curves.empty() || curves.back().name != name) curves.push_back({name, {}});
    curves.back().points.emplace_back(static_cast<double>(m.measured.bytes()), m.all.median * 1e-6);
  }
  const std::string title = fmt::format("{} ranks, {}, medians", heading.ranks, heading.form);
  return draw_curves({title, "bytes", tutti::bytes_text}, std::move(curves));
}

// The command as it could be typed.
std::string command_line() {
  const std::string words = tutti::text_in_file("/proc/self/cmdline");
  std::string line = "tutti";
  for (size_t at = words.find('\0') + 1; at < words.size(); at = words.find('\0', at) + 1) {
    const std::string word = words.c_str() + at;
    const bool quoted = word.find_first_of(" '\"$;&|<>*?()") != std::string::npos;
    line += quoted ? " '" + tutti::replaced(word, "'", "'\\''") + "'" : " " + word;
  }
  return line;
}

// ---- running ----------------------------------------------------------------------------------

void run_bench(Options& options) {
  const std::vector<Case> cases = need(chosen_cases(options.wanted));
  if (!options.device.empty()) need(find_api(options.device).status());
  if (!need(has_launcher())) need(start_ranks(options.ranks > 0 ? options.ranks : 2));

  Session session;
  need(session.open());
  if (options.ranks > 0 && options.ranks != session.ranks) {
    fail(fmt::format("--ranks is {}, but the launcher started {}", options.ranks, session.ranks));
  }
  Plan& plan = options.plan;
  if (plan.root >= session.ranks) {
    fail(fmt::format("--root is {}, expected 0 to {}", plan.root, session.ranks - 1));
  }
  Heading heading{session.ranks, options.form, plan};
  std::unique_ptr<Device> device;
  if (!options.device.empty()) {
    device = need(Device::open(options.device, options.device_index, session.comm));
    plan.device = device.get();
  }
  if (session.rank == 0 && !options.json) {
    fmt::print("{}", heading_text(heading));
    if (device) fmt::print("# buffers on {}\n", device->name());
    for (const std::string& note : notes_on_sizes(options.wanted, cases))
      fmt::print("# {}\n", note);
  }
  const Results results = measure_all(cases, session, plan, options.json);
  if (session.rank != 0) return;
  if (options.json || !options.output.empty()) {
    heading.command = command_line();
    heading.machine = collect_machine();
    const std::string json = to_json(heading, results.measurements, results.skipped);
    if (options.json) fmt::print("{}", json);
    need.write(options.output, json);
  }
  need.write(options.csv, to_csv(results.measurements));
  if (!options.plot.empty()) need.write(options.plot, plot(heading, results.measurements));
}

const std::map<std::string, Form> kForms = {{"blocking", Form::kBlocking},
                                            {"nonblocking", Form::kNonblocking},
                                            {"persistent", Form::kPersistent}};

void add_size_options(CLI::App* bench, const std::shared_ptr<Options>& o) {
  const CLI::Validator bytes = tutti::size_in_bytes();
  bench
      ->add_option("-f,--min", o->wanted.min_bytes,
                   "Smallest size in bytes (not elements); 1K = 1024")
      ->transform(bytes);
  bench->add_option("-t,--max", o->wanted.max_bytes, "Largest size in bytes, e.g. 64M")
      ->transform(bytes);
  bench->add_option("--factor", o->wanted.factor, "From one size to the next")
      ->check(CLI::Range(2, 1024));
  bench
      ->add_option("-y,-b,--sizes,--bytes", o->wanted.sizes,
                   "These sizes in bytes instead, e.g. 4,1K,64M")
      ->transform(bytes)
      ->allow_extra_args(false)
      ->delimiter(',');
}

void add_plan_options(CLI::App* bench, const std::shared_ptr<Options>& o) {
  bench->add_option("-i,--iterations", o->plan.iterations,
                    "Calls per size; 0: as many as fit in --seconds, 10 to 20000");
  bench->add_option("-w,--warm-up", o->plan.warm_up, "Calls before; 0: a tenth of --seconds");
  bench->add_option("--seconds", o->plan.seconds, "Time per size")->check(tutti::above_zero());
  bench->add_flag("--shared", o->plan.shared,
                  "Buffers of tutti_alloc, which peers on the host read where they lie");
  bench->add_flag(
      "--huge-pages", o->plan.huge_pages,
      "Ask for huge pages for buffers, which are then multiples of 2 MiB: steadier times "
      "from 16 MB on, and faster reads of peers' buffers");
  CLI::Option* device = bench->add_option(
      "--device", o->device,
      "Buffers in the memory of a device, and calls on a queue of it, of one of: " +
          tutti::bench::known_apis());
  device->type_name("API");
  bench->add_option("--index", o->device_index, "Which device, as tutti info numbers them")
      ->check(tutti::zero_or_more())
      ->needs(device);
  bench->add_flag("-q,--in-place", o->plan.in_place, "Send and receive in the same buffer");
  bench->add_option("--root", o->plan.root, "Root of broadcast, reduce, gather and scatter")
      ->check(tutti::zero_or_more());
  bench->add_option("--form", o->form, "blocking, nonblocking or persistent")
      ->check(CLI::IsMember(kForms));
  bench->add_flag("--check,!--no-check", o->plan.check,
                  "Compare every element of a result with what it must be, before and after timing "
                  "(default)");
  bench
      ->add_option("--buffers", o->plan.buffers,
                   "Sets of buffers that the calls use in turn, to see times without warm caches")
      ->check(CLI::Range(1, 1024));
  bench
      ->add_option("--skew", o->plan.skew_us,
                   "Each rank is late for each call by a random time up to this, in us; a time "
                   "counts from the rank's own call")
      ->check(tutti::zero_or_more());
}

}  // namespace

void add_bench(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* bench = app.add_subcommand("bench", "Time collectives and check their results");
  bench->option_defaults()->always_capture_default();
  bench
      ->add_option(tutti::kCollectiveNames, o->wanted.collectives,
                   "allreduce, broadcast, reduce, allgather, reduce_scatter, alltoall, gather, "
                   "scatter, these five with a v (allgatherv ...), barrier, sendrecv, or all")
      ->required()
      ->delimiter(',');
  bench->add_option("-n,--ranks", o->ranks, "Start this many ranks, unless a launcher has done so")
      ->check(CLI::Range(1, 65536))
      ->default_str("2");
  add_size_options(bench, o);
  bench
      ->add_option("-d,--types,--type", o->wanted.types,
                   "Element types, e.g. float32,bfloat16, or all")
      ->allow_extra_args(false)
      ->delimiter(',');
  bench
      ->add_option("-r,--ops", o->wanted.ops,
                   "Operations: sum, prod, min, max, avg, band, bor, bxor, or all")
      ->allow_extra_args(false)
      ->delimiter(',');
  add_plan_options(bench, o);
  bench->add_flag("--json", o->json, "Print JSON, with the times of each rank");
  bench->add_option("-o,--output", o->output, "Write that JSON to this file")
      ->check(tutti::writable_file());
  bench->add_option("--csv", o->csv, "Write the table to this file")->check(tutti::writable_file());
  bench->add_option("--plot", o->plot, "Draw the medians over bytes into this file, as SVG")
      ->check(tutti::writable_file());
  bench->footer(
      "A size is that of the buffer for allreduce, broadcast, reduce and sendrecv, and of one\n"
      "rank's block for the others; all blocks are equal. algbw is the size (times the ranks, for "
      "blocks) over the "
      "time;\n"
      "busbw is that times 2(n-1)/n for allreduce, (n-1)/n for collectives on blocks, and 1 for "
      "the\n"
      "rest, as nccl-tests define it. Ends with status 1 after an error or a wrong result.\n"
      "With --nccl-tests it is tutti perf; see also tutti benchmark.");
  bench->callback([o] {
    o->plan.form = kForms.at(o->form);
    run_bench(*o);
  });
}
