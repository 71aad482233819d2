// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti benchmark: tutti bench with the options and the output of oneCCL's benchmark.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "tools/bench/oneccl_table.hpp"
#include "tools/bench/session.hpp"
#include "tools/checks.hpp"
#include "tools/need.hpp"

namespace {

using namespace tutti::bench;

constexpr tutti::Need need{"tutti benchmark"};

struct Options {
  std::string backend = "host";
  size_t iterations = 16;
  size_t warm_up = 16;
  std::string policy = "auto";
  size_t buffers = 1;
  size_t min_count = 0;
  size_t max_count = 128;
  std::vector<size_t> counts;
  std::string check = "last";
  int cache = 1;
  int in_place = 0;
  int numa_node = -1;
  std::vector<std::string> collectives = {"allreduce"};
  std::vector<std::string> types = {"float32"};
  std::vector<std::string> ops = {"sum"};
  std::string csv;
  std::string extended = "auto";
  int ranks = 0;
};

// One table: what is measured in each of its lines, and how.
struct Table {
  std::vector<const Collective*> collectives;
  tutti_type type;
  tutti::ReduceOp op;
};

constexpr const char* kCollectives =
    "allgather, allgatherv, allreduce, alltoall, alltoallv, bcast, broadcast, reduce, "
    "reduce_scatter";

std::vector<std::string> chosen_names(const Options& o) {
  if (o.collectives != std::vector<std::string>{"all"}) return o.collectives;
  return {"allgather", "allgatherv", "allreduce", "alltoall",      "alltoallv",
          "bcast",     "broadcast",  "reduce",    "reduce_scatter"};
}

std::vector<const Collective*> chosen_collectives(const Options& o) {
  std::vector<const Collective*> chosen;
  for (const std::string& name : chosen_names(o)) {
    const Collective* found = find_collective(name);
    if (found == nullptr || found->nonblocking == nullptr) {
      need.fail(fmt::format("-l has '{}', expected all or some of: {}", name, kCollectives));
    }
    chosen.push_back(found);
  }
  return chosen;
}

std::vector<size_t> chosen_counts(const Options& o, const CLI::App& app) {
  if (o.counts.empty()) return oneccl::counts_between(o.min_count, o.max_count);
  std::vector<size_t> counts;
  const size_t least = app.count("-f") > 0 ? o.min_count : 0;
  const size_t most = app.count("-t") > 0 ? o.max_count : SIZE_MAX;
  std::ranges::copy_if(o.counts, std::back_inserter(counts),
                       [=](size_t count) { return count >= least && count <= most; });
  return counts;
}

std::vector<Table> chosen_tables(const Options& o) {
  const auto types = need(numbers_of(o.types, tutti::kDataTypes, name_of_type, "-d"));
  const bool all = o.ops == std::vector<std::string>{"all"};
  const auto ops = need(numbers_of(o.ops, all ? TUTTI_MAX + 1 : TUTTI_AVG + 1, name_of_op, "-r"));
  std::vector<Table> tables;
  for (const auto& [type, op] : pairs_of(types, ops, true)) {
    tables.push_back({chosen_collectives(o), type, op});
  }
  if (tables.empty()) need.fail("no type given supports any operation given");
  return tables;
}

void prefer_numa_node(int node) {
  unsigned long nodes[16] = {};
  constexpr int kBits = 8 * sizeof(unsigned long);
  nodes[node / kBits] = 1UL << (node % kBits);
  if (syscall(SYS_set_mempolicy, MPOL_BIND, nodes, 8 * sizeof(nodes)) != 0) {
    need.fail(fmt::format("-s: cannot allocate on NUMA node {}: {}", node, std::strerror(errno)));
  }
}

Plan plan_of(const Options& o, size_t bytes) {
  Plan plan;
  plan.form = o.cache != 0 ? Form::kPersistent : Form::kNonblocking;
  plan.in_place = o.in_place != 0;
  plan.check = o.check != "off";
  plan.check_each = o.check == "all";
  plan.buffers = o.buffers;
  plan.together = true;
  plan.exactly = true;
  const bool fewer = o.policy == "auto";
  plan.iterations = fewer ? oneccl::fewer_iterations(o.iterations, bytes) : o.iterations;
  plan.warm_up = fewer ? oneccl::fewer_iterations(o.warm_up, bytes) : o.warm_up;
  return plan;
}

void show_options(const Options& o, const Session& session, const std::vector<size_t>& counts) {
  fmt::print(
      "\noptions:\n  processes:      {}\n  backend:        {}\n  iters:          {}\n"
      "  warmup_iters:   {}\n  iter_policy:    {}\n  buf_count:      {}\n  min_elem_count: {}\n"
      "  max_elem_count: {}\n  elem_counts:    [{}]\n  check:          {}\n  cache:          {}\n"
      "  inplace:        {}\n  numa_node:      {}\n  collectives:    {}\n  datatypes:      {}\n"
      "  reductions:     {}\n  extended info:  {}\n  csv_filepath:   {}\n",
      session.ranks, o.backend, o.iterations, o.warm_up, o.policy, o.buffers,
      counts.empty() ? 0 : std::ranges::min(counts), counts.empty() ? 0 : std::ranges::max(counts),
      fmt::join(counts, " "), o.check, o.cache, o.in_place,
      o.numa_node < 0 ? "<default>" : std::to_string(o.numa_node), fmt::join(chosen_names(o), " "),
      fmt::join(o.types, " "), fmt::join(o.ops, " "), o.extended, o.csv);
}

// Appends a line per collective: ranks, collective, reduction, type, its size, elements, bytes,
// buffers, iterations, then the times in the order of the table.
void write_csv(const Options& o, const Session& session, const Table& table, size_t count,
               size_t iterations, const oneccl::Row& row) {
  if (o.csv.empty()) return;
  std::ofstream file(o.csv, std::ios::app);
  const size_t width = tutti_type_size(table.type);
  for (size_t i = 0; i < table.collectives.size(); ++i) {
    file << fmt::format("{},{},{},{},{},{},{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f}\n",
                        session.ranks, chosen_names(o)[i],
                        table.collectives[i]->reduces ? tutti::op_name(table.op) : "",
                        tutti_type_name(table.type), width, count, count * width, o.buffers,
                        iterations, row.min, row.max, row.avg, row.stddev, row.wait);
  }
  if (!file.flush()) {
    need.fail(fmt::format("cannot write {}: {}", o.csv, std::strerror(errno)));
  }
}

void measure_line(const Options& o, const Session& session, const Table& table, size_t count) {
  const Plan plan = plan_of(o, count * tutti_type_size(table.type));
  Runner runner(session.comm, session.rank, session.ranks, plan);
  std::vector<Measurement> measurements;
  for (const Collective* collective : table.collectives) {
    const size_t called = oneccl::count_of_call(*collective, count, session.ranks);
    auto result = need(runner.run({collective, table.type, table.op, called}));
    if (const auto* skipped = std::get_if<Skipped>(&result)) need.fail(skipped->reason);
    measurements.push_back(std::get<Measurement>(std::move(result)));
  }
  if (session.rank != 0) return;
  const oneccl::Row row = oneccl::row_of(measurements);
  fmt::print("{}", oneccl::table_row(count * tutti_type_size(table.type) * o.buffers,
                                     count * o.buffers, plan.iterations, row, o.extended == "on"));
  std::fflush(stdout);
  write_csv(o, session, table, count, plan.iterations, row);
}

void run_benchmark(const Options& o, const CLI::App& app) {
  const std::vector<Table> tables = chosen_tables(o);
  if (o.backend != "host") {
    need.fail(fmt::format("-b is {}, expected host: this build knows no devices", o.backend));
  }
  if (!need(has_launcher())) need(start_ranks(o.ranks > 0 ? o.ranks : 2));
  if (o.numa_node >= 0) prefer_numa_node(o.numa_node);
  Session session;
  need(session.open());
  if (o.ranks > 0 && o.ranks != session.ranks) {
    need.fail(fmt::format("--ranks is {}, but the launcher started {}", o.ranks, session.ranks));
  }
  const std::vector<size_t> counts = chosen_counts(o, app);
  const bool speaks = session.rank == 0;
  if (speaks) show_options(o, session, counts);
  for (const Table& table : tables) {
    if (speaks) {
      fmt::print("\ndatatype: {}\nreduction: {}\n{}", tutti_type_name(table.type),
                 tutti::op_name(table.op),
                 oneccl::table_head(fmt::format("{} ", fmt::join(chosen_names(o), " ")),
                                    session.ranks, o.extended == "on"));
    }
    for (const size_t count : counts) measure_line(o, session, table, count);
  }
  if (speaks) fmt::print("\n# All done\n");
}

void add_amounts(CLI::App* app, Options& o) {
  app->add_option("-i,--iters", o.iterations, "Timed iterations per line")
      ->check(tutti::above_zero());
  app->add_option("-w,--warmup_iters", o.warm_up, "Iterations before");
  app->add_option("-j,--iter_policy", o.policy,
                  "auto: half as many iterations for each doubling from 256 KiB on; off")
      ->check(CLI::IsMember({"auto", "off"}));
  app->add_option("-n,--buf_count", o.buffers, "Calls, each on buffers of its own, per iteration")
      ->check(CLI::Range(1, 1024));
  app->add_option("-f,--min_elem_count", o.min_count, "Smallest number of elements");
  app->add_option("-t,--max_elem_count", o.max_count, "Largest number of elements");
  app->add_option("-y,--elem_counts", o.counts, "These numbers of elements instead")
      ->delimiter(',');
}

void add_subjects(CLI::App* app, Options& o) {
  app->add_option("-l,--coll", o.collectives, fmt::format("all or some of: {}", kCollectives))
      ->delimiter(',');
  app->add_option("-d,--dtype", o.types, "Element types, e.g. float32,bfloat16, or all")
      ->delimiter(',');
  app->add_option("-r,--reduction", o.ops, "sum, prod, min, max, avg, or all: the first four")
      ->delimiter(',');
}

void add_manners(CLI::App* app, Options& o) {
  app->add_option("-b,--backend", o.backend, "host")->check(CLI::IsMember({"host", "sycl"}));
  app->add_option("-c,--check", o.check,
                  "last: compare all results before and after timing; all: of every iteration; off")
      ->check(CLI::IsMember({"off", "last", "all"}));
  app->add_option("-p,--cache", o.cache, "1: persistent requests; 0: new ones for each call")
      ->check(CLI::Range(0, 1));
  app->add_option("-q,--inplace", o.in_place, "1: send and receive in the same buffer")
      ->check(CLI::Range(0, 1));
  app->add_option("-s,--numa_node", o.numa_node, "Allocate on this NUMA node")
      ->check(CLI::Range(-1, 1023))
      ->default_str("");
  app->add_option("-o,--csv_filepath", o.csv, "Append the lines to this file")
      ->check(tutti::writable_file());
  app->add_option("-x,--ext", o.extended, "on: the time after the start of all calls, too")
      ->check(CLI::IsMember({"off", "auto", "on"}));
  app->add_option("--ranks", o.ranks, "Start this many ranks, unless a launcher has done so")
      ->check(CLI::Range(1, 65536))
      ->default_str("2");
}

}  // namespace

void add_benchmark(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* benchmark = app.add_subcommand(
      "benchmark", "bench with the options and the output of oneCCL's benchmark");
  benchmark->option_defaults()->always_capture_default();
  add_amounts(benchmark, *o);
  add_subjects(benchmark, *o);
  add_manners(benchmark, *o);
  benchmark->footer(
      "The same as tutti-benchmark. #bytes is what a rank gives (of alltoall, what it gives each\n"
      "other), times -n. Several collectives share a line, which shows the sum of their times.\n"
      "Ends with status 1 after an error or a wrong result.");
  benchmark->callback([o, benchmark] { run_benchmark(*o, *benchmark); });
}
