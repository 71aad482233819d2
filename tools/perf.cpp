// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti perf: tutti bench with the options and the output of nccl-tests.
#include <fmt/format.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "tools/bench/nccl_table.hpp"
#include "tools/bench/session.hpp"
#include "tools/checks.hpp"
#include "tools/need.hpp"

namespace {

using namespace tutti::bench;

constexpr tutti::Need need{"tutti perf"};

struct Options {
  std::string collective;
  int threads = 1;
  int gpus = 1;
  uint64_t min_bytes = 32 << 20;
  uint64_t max_bytes = 32 << 20;
  uint64_t step_bytes = 1 << 20;
  uint64_t factor = 1;
  size_t iterations = 20;
  size_t warm_up = 5;
  size_t together = 1;
  int check = 1;
  std::vector<std::string> ops = {"sum"};
  std::vector<std::string> types = {"float"};
  std::string root = "0";
  int average = 1;
  int blocking = 0;
  int shared = 0;
  int timeout_s = 0;
};

std::string_view their_type(int i) { return nccl::type_name(static_cast<tutti_type>(i)); }

std::vector<Case> chosen_cases(const Options& o, const Collective& collective, int ranks) {
  const auto types = need(numbers_of(o.types, tutti::kDataTypes, their_type, "-d"));
  // Theirs have no bitwise operations.
  const auto ops = need(numbers_of(o.ops, TUTTI_AVG + 1, name_of_op, "-o"));
  std::vector<uint64_t> sizes;
  for (uint64_t size = o.min_bytes; size <= o.max_bytes;) {
    sizes.push_back(size);
    const uint64_t next = o.factor > 1 ? size * o.factor : size + o.step_bytes;
    if (next <= size) break;
    size = next;
  }
  std::vector<Case> cases;
  for (const auto& [type, op] : pairs_of(types, ops, collective.reduces)) {
    for (const uint64_t size : sizes) {
      cases.push_back({&collective, type, op, nccl::count_for(collective, type, size, ranks)});
    }
  }
  if (cases.empty() && !sizes.empty()) need.fail("no type given supports any operation given");
  return cases;
}

std::vector<int> chosen_roots(const Options& o, int ranks) {
  std::vector<int> roots;
  if (o.root == "all") {
    for (int rank = 0; rank < ranks; ++rank) roots.push_back(rank);
    return roots;
  }
  int root = -1;
  if (!CLI::detail::lexical_cast(o.root, root) || root < 0 || root >= ranks) {
    need.fail(fmt::format("-r is {}, expected 0 to {}, or all", o.root, ranks - 1));
  }
  return {root};
}

// Prints where each rank runs, in the lines with which the foreign output names devices.
void show_head(const Options& o, const Session& session) {
  struct Process {
    int pid;
    std::array<char, 60> host;
  };
  Process mine{getpid(), {}};
  gethostname(mine.host.data(), mine.host.size() - 1);
  std::vector<Process> processes(static_cast<size_t>(session.ranks));
  if (tutti_allgather(&mine, processes.data(), sizeof(Process), TUTTI_UINT8, session.comm) !=
      TUTTI_OK) {
    need.fail(tutti_last_error());
  }
  if (session.rank != 0) return;
  fmt::print(
      "# nThread {} nGpus {} minBytes {} maxBytes {} step: {}({}) warmup iters: {} iters: {} "
      "agg iters: {} validation: {} graph: 0\n#\n# Using devices\n",
      o.threads, o.gpus, o.min_bytes, o.max_bytes, o.factor > 1 ? o.factor : o.step_bytes,
      o.factor > 1 ? "factor" : "bytes", o.warm_up, o.iterations, o.together, o.check > 0 ? 1 : 0);
  for (size_t rank = 0; rank < processes.size(); ++rank) {
    fmt::print("#  Rank {:2} Group  0 Pid {:6} on {:>10} device {:2} [0x00] CPU\n", rank,
               processes[rank].pid, processes[rank].host.data(), rank);
  }
  fmt::print("{}", nccl::table_head());
}

Plan plan_of(const Options& o, int root, bool in_place) {
  Plan plan;
  plan.form = o.together > 1 ? Form::kNonblocking : Form::kBlocking;
  plan.root = root;
  plan.in_place = in_place;
  plan.check = o.check > 0;
  plan.buffers = o.together;
  plan.together = o.together > 1;
  plan.shared = o.shared != 0;
  plan.iterations = o.iterations;
  plan.warm_up = o.warm_up;
  plan.exactly = true;
  plan.counts_wrong = true;
  return plan;
}

// Nothing where the collective does not work in place.
std::optional<nccl::Figures> measure(const Options& o, const Session& session, const Case& measured,
                                     int root, bool in_place) {
  if (measured.count == 0) return nccl::Figures{0, 0, 0, 0};
  Runner runner(session.comm, session.rank, session.ranks, plan_of(o, root, in_place));
  const auto result = need(runner.run(measured));
  if (const auto* skipped = std::get_if<Skipped>(&result)) {
    if (!in_place) need.fail(skipped->reason);
    return std::nullopt;
  }
  return nccl::figures(std::get<Measurement>(result), static_cast<nccl::Average>(o.average),
                       o.together, o.check > 0);
}

void run_all(const Options& o, const Collective& collective, const Session& session) {
  uint64_t wrong = 0;
  double bandwidth = 0;
  int measured = 0;
  for (const int root : chosen_roots(o, session.ranks)) {
    for (const Case& each : chosen_cases(o, collective, session.ranks)) {
      const auto apart = measure(o, session, each, root, false);
      const auto in_place = measure(o, session, each, root, true);
      for (const auto& figures : {apart, in_place}) {
        if (!figures) continue;
        wrong += figures->wrong.value_or(0);
        bandwidth += figures->bus_bandwidth;
        ++measured;
      }
      if (session.rank != 0) continue;
      fmt::print("{}", nccl::table_row(each, session.ranks, root, apart, in_place));
      std::fflush(stdout);
    }
  }
  if (session.rank == 0) fmt::print("{}", nccl::table_foot(wrong, bandwidth / measured));
  if (wrong > 0) throw CLI::RuntimeError(1);
}

void run_perf(const Options& o) {
  const Collective* collective = nccl::find_collective(o.collective);
  if (collective == nullptr || collective->outcome == Outcome::kNothing) {
    need.fail(fmt::format(
        "COLLECTIVE is '{}', expected one of: all_reduce, all_gather, reduce_scatter, broadcast, "
        "reduce, alltoall, gather, scatter, sendrecv",
        o.collective));
  }
  if (o.min_bytes > o.max_bytes) {
    need.fail(fmt::format("-b is {}, expected at most -e, {}", o.min_bytes, o.max_bytes));
  }
  const int here = o.threads * o.gpus;
  if (!need(has_launcher())) need(start_ranks(here));
  Session session;
  need(session.open());
  // The launcher that start_ranks() uses has started as many as were wanted.
  if (here != 1 && here != session.ranks) {
    need.fail(fmt::format(
        "-t times -g is {}, but the launcher started {} processes, which are one rank each", here,
        session.ranks));
  }
  if (o.timeout_s > 0 && tutti_comm_set_timeout(session.comm, o.timeout_s * 1000) != TUTTI_OK) {
    need.fail(tutti_last_error());
  }
  show_head(o, session);
  run_all(o, *collective, session);
}

void add_size_options(CLI::App* perf, Options& o) {
  const CLI::Validator bytes = tutti::size_in_bytes();
  perf->add_option("-b,--minbytes", o.min_bytes, "Smallest size in bytes, e.g. 8 or 1M")
      ->transform(bytes);
  perf->add_option("-e,--maxbytes", o.max_bytes, "Largest size")->transform(bytes);
  perf->add_option("-i,--stepbytes", o.step_bytes, "From one size to the next, unless -f is given")
      ->transform(bytes);
  perf->add_option("-f,--stepfactor", o.factor, "Factor from one size to the next")
      ->check(CLI::Range(1, 1024));
}

void add_call_options(CLI::App* perf, Options& o) {
  perf->add_option("-n,--iters", o.iterations, "Timed calls per size")->check(tutti::above_zero());
  perf->add_option("-w,--warmup_iters", o.warm_up, "Calls before");
  perf->add_option("-m,--agg_iters", o.together, "Calls that are under way together")
      ->check(CLI::Range(1, 1024));
  perf->add_option("-c,--check", o.check,
                   "Compare every element of the results before and after timing; 0: do not")
      ->check(tutti::zero_or_more());
  perf->add_option("-o,--op", o.ops, "sum, prod, min, max, avg, or all")->delimiter(',');
  perf->add_option("-d,--datatype", o.types,
                   "int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, "
                   "f8e4m3, f8e5m2, int16, uint16, or all")
      ->delimiter(',');
  perf->add_option("-r,--root", o.root, "Root of broadcast, reduce, gather and scatter, or all");
  perf->add_option("-a,--average", o.average,
                   "Show the time of: 0 rank 0, 1 the mean, 2 the "
                   "fastest, 3 the slowest rank")
      ->check(CLI::Range(0, 3));
  perf->add_option("-z,--blocking", o.blocking, "No effect: calls on host memory are blocking");
  perf->add_option("-R,--local_register", o.shared,
                   "1: buffers of tutti_alloc, which peers on the host read where they lie")
      ->check(CLI::Range(0, 2));
  perf->add_option("-T,--timeout", o.timeout_s, "Longest wait of a call, in seconds")
      ->check(CLI::Range(0, 1000000))
      ->default_str("");
}

// Options for threads that drive GPUs.
void add_device_options(CLI::App* perf) {
  const auto only_0 = [](const std::string& text) {
    return text == "0" ? std::string() : "expected 0: there are no GPUs, got " + text;
  };
  perf->add_option("-p,--parallel_init", "Only 0")->check(only_0);
  perf->add_option("-y,--stream_null", "Only 0")->check(only_0);
  perf->add_option("-G,--cudagraph", "Only 0")->check(only_0);
  perf->add_option("-C,--report_cputime", "Only 0")->check(only_0);
}

}  // namespace

void add_perf(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* perf =
      app.add_subcommand("perf", "bench with the options and the output of nccl-tests");
  perf->option_defaults()->always_capture_default();
  perf->add_option("COLLECTIVE", o->collective,
                   "all_reduce, all_gather, reduce_scatter, broadcast, reduce, alltoall, gather, "
                   "scatter or sendrecv")
      ->required();
  perf->add_option("-t,--nthreads", o->threads, "With -g, how many ranks to start")
      ->check(CLI::Range(1, 65536));
  perf->add_option("-g,--ngpus", o->gpus,
                   "Start -t times -g ranks, unless a launcher has started some")
      ->check(CLI::Range(1, 65536));
  add_size_options(perf, *o);
  add_call_options(perf, *o);
  add_device_options(perf);
  perf->footer(
      "The same as tutti bench --nccl-tests COLLECTIVE, and as a link COLLECTIVE_perf to tutti.\n"
      "A size is that of the larger buffer. In place, alltoall and sendrecv do not work and\n"
      "show nan; broadcast has no other way, so both halves of its lines time the same.\n"
      "Ends with status 1 after an error or a wrong result.");
  perf->callback([o] { run_perf(*o); });
}
