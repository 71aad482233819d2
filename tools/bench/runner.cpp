// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/bench/runner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <numeric>

namespace tutti::bench {

namespace {

constexpr size_t kLeastIterations = 10;
constexpr size_t kMostIterations = 20000;

double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

double clock_cost_us() {
  constexpr int kReadings = 2000;
  double least = INFINITY;
  for (int trial = 0; trial < 5; ++trial) {
    const double begin = now_us();
    for (int i = 1; i < kReadings; ++i) now_us();
    least = std::min(least, (now_us() - begin) / kReadings);
  }
  return least;
}

// The library's words on a failed call.
Status failure(tutti_status status) { return {static_cast<Code>(status), tutti_last_error()}; }

Status status_of(tutti_status status) { return status == TUTTI_OK ? Status() : failure(status); }

std::string describe(const Case& c) {
  const std::string op = c.collective->reduces ? fmt::format(" {}", op_name(c.op)) : "";
  return fmt::format("{} {}{}, {} bytes", c.collective->name, tutti_type_name(c.type), op,
                     c.bytes());
}

size_t fit(double seconds, double us_per_call, size_t least, size_t most) {
  const double calls = seconds * 1e6 / std::max(us_per_call, 1e-3);
  return std::clamp(static_cast<size_t>(calls), least, most);
}

// All the bytes that the collective is about, as nccl-tests count them.
size_t total_bytes(const Case& c, int ranks) {
  const bool blocks = c.collective->send == Blocks::kAll || c.collective->recv == Blocks::kAll;
  return c.bytes() * (blocks ? static_cast<size_t>(ranks) : 1);
}

std::string why_not(const Collective& collective, const Plan& plan) {
  if (plan.form != Form::kBlocking && collective.nonblocking == nullptr) {
    return fmt::format("{} is measured in its blocking form only", collective.name);
  }
  const bool separate = collective.send != Blocks::kNone;
  if (plan.in_place && separate && !collective.in_place) {
    return fmt::format("{} does not work in place", collective.name);
  }
  return "";
}

}  // namespace

Runner::Runner(tutti_comm_t comm, int rank, int ranks, const Plan& plan)
    : comm_(comm),
      rank_(rank),
      ranks_(ranks),
      plan_(plan),
      clock_us_(clock_cost_us()),
      random_(static_cast<uint64_t>(rank) + 1) {}

template <typename Value>
Result<std::vector<Value>> Runner::exchange(const Value& mine) {
  std::vector<Value> all(static_cast<size_t>(ranks_));
  TUTTI_RETURN_IF_ERROR(
      status_of(tutti_allgather(&mine, all.data(), sizeof(Value), TUTTI_UINT8, comm_)));
  return all;
}

Status Runner::agree(const Status& mine) {
  TUTTI_ASSIGN_OR_RETURN(auto failed, exchange(static_cast<uint8_t>(mine.ok() ? 0 : 1)));
  if (!mine.ok()) return mine;
  const auto found = std::find(failed.begin(), failed.end(), 1);
  if (found == failed.end()) return {};
  return Status::format(Code::kAborted, "stopped because rank {} failed", found - failed.begin());
}

Status Runner::compare(Buffers& buffers, size_t set) {
  const auto wrong = buffers.check(set);
  if (!wrong) return {};
  wrong_ += wrong->wrong;
  if (plan_.counts_wrong) return {};
  return Status::format(Code::kInternal,
                        "wrong result: rank {}, buffer {}, index {}, got {}, expected {}", rank_,
                        set, wrong->index, wrong->got, wrong->expected);
}

Status Runner::check(Buffers& buffers, Caller& caller) {
  Status mine;
  for (size_t set = 0; set < plan_.buffers; ++set) {
    if (plan_.check) buffers.prepare(set);
    TUTTI_RETURN_IF_ERROR(status_of(caller(set)));
    if (plan_.check && mine.ok()) mine = compare(buffers, set);
  }
  return agree(mine);
}

Status Runner::make_calls(size_t number, Caller& caller) {
  if (!plan_.together) return status_of(caller(number % plan_.buffers));
  TUTTI_RETURN_IF_ERROR(status_of(caller.start_all()));
  const double started = now_us();
  TUTTI_RETURN_IF_ERROR(status_of(caller.wait_all()));
  wait_us_ += now_us() - started;
  return {};
}

Result<std::vector<double>> Runner::sample(Buffers& buffers, Caller& caller, size_t calls) {
  std::vector<double> samples(calls);
  wait_us_ = 0;
  double begin = now_us();
  for (size_t i = 0; i < calls; ++i) {
    if (plan_.check_each) {
      for (size_t set = 0; set < plan_.buffers; ++set) buffers.prepare(set);
      TUTTI_RETURN_IF_ERROR(status_of(tutti_barrier(comm_)));
      begin = now_us();
    }
    if (plan_.skew_us > 0) {
      random_ = random_ * 6364136223846793005U + 1442695040888963407U;
      const double wait = plan_.skew_us * static_cast<double>(random_ >> 32) / 4294967296.0;
      for (const double until = begin + wait; begin < until;) begin = now_us();
    }
    TUTTI_RETURN_IF_ERROR(make_calls(i, caller));
    const double end = now_us();
    samples[i] = std::max(0.0, end - begin - clock_us_);
    begin = end;
    if (!plan_.check_each) continue;
    Status mine;
    for (size_t set = 0; set < plan_.buffers && mine.ok(); ++set) {
      if (plan_.together || set == i % plan_.buffers) mine = compare(buffers, set);
    }
    TUTTI_RETURN_IF_ERROR(agree(mine));
  }
  return samples;
}

// Calls until everything is warm; how many calls then fit in the time of a case.
Result<size_t> Runner::warm_up(Buffers& buffers, Caller& caller) {
  if (plan_.exactly) {
    TUTTI_RETURN_IF_ERROR(sample(buffers, caller, plan_.warm_up).status());
    return plan_.iterations;
  }
  size_t calls = 3;
  double us_per_call = 0;
  for (int trial = 0; trial < 2; ++trial) {
    const double begin = now_us();
    TUTTI_RETURN_IF_ERROR(sample(buffers, caller, calls).status());
    TUTTI_ASSIGN_OR_RETURN(auto agreed, exchange((now_us() - begin) / static_cast<double>(calls)));
    us_per_call = agreed.front();  // all take rank 0's
    calls = plan_.warm_up > 0 ? plan_.warm_up : fit(plan_.seconds / 10, us_per_call, 1, 2000);
  }
  if (plan_.iterations > 0) return plan_.iterations;
  return fit(plan_.seconds, us_per_call, kLeastIterations, kMostIterations);
}

Result<Measurement> Runner::measure(const Case& measured, Buffers& buffers, Caller& caller) {
  wrong_ = 0;
  TUTTI_RETURN_IF_ERROR(check(buffers, caller).with_context("before timing"));
  TUTTI_ASSIGN_OR_RETURN(auto iterations, warm_up(buffers, caller));
  TUTTI_ASSIGN_OR_RETURN(auto samples, sample(buffers, caller, iterations));
  Statistics mine = summarize(samples);
  mine.wait = wait_us_ / static_cast<double>(iterations);
  TUTTI_ASSIGN_OR_RETURN(auto ranks, exchange(mine));
  TUTTI_RETURN_IF_ERROR(check(buffers, caller).with_context("after timing"));
  TUTTI_ASSIGN_OR_RETURN(auto wrong, exchange(wrong_));

  const Statistics all = over_ranks(ranks);
  // bytes per microsecond / 1000 = GB/s
  const double bandwidth = static_cast<double>(total_bytes(measured, ranks_)) / all.avg / 1e3;
  return Measurement{measured,
                     iterations,
                     ranks,
                     all,
                     bandwidth,
                     bandwidth * measured.collective->bus_factor(ranks_),
                     std::accumulate(wrong.begin(), wrong.end(), uint64_t{0})};
}

Result<std::variant<Measurement, Skipped>> Runner::run(const Case& measured) {
  using Answer = std::variant<Measurement, Skipped>;
  const Collective& collective = *measured.collective;
  if (std::string reason = why_not(collective, plan_); !reason.empty()) {
    return Answer(Skipped{std::move(reason)});
  }
  std::optional<Buffers> buffers;
  Status allocated;
  try {
    buffers.emplace(measured, Setting{plan_.device != nullptr ? plan_.device->view() : comm_, rank_,
                                      ranks_, plan_.root, plan_.in_place && collective.in_place,
                                      plan_.buffers, plan_.shared, plan_.huge_pages, plan_.device});
    for (size_t set = 0; set < plan_.buffers; ++set) buffers->prepare(set);
  } catch (const std::bad_alloc&) {
    allocated = Status::format(Code::kOutOfMemory, "rank {} has no memory for {} sets of buffers",
                               rank_, plan_.buffers);
  }
  TUTTI_RETURN_IF_ERROR(agree(allocated).with_context(describe(measured)));

  Caller caller(collective, buffers->calls(), plan_.form);
  Status opened = status_of(caller.open());
  // Whether a call is supported does not depend on the rank, and is known before it communicates.
  if (opened.ok()) opened = status_of(caller(0));
  if (opened.code() == Code::kUnsupported) return Answer(Skipped{std::string(opened.message())});
  TUTTI_RETURN_IF_ERROR(opened.with_context(describe(measured)));

  auto result = measure(measured, *buffers, caller);
  if (!result.ok()) return result.status().with_context(describe(measured));
  return Answer(*std::move(result));
}

}  // namespace tutti::bench
