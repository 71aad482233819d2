// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/json_text.hpp"
#include "exec/call.hpp"
#include "exec/wait_reporter.hpp"

namespace tutti::inspect {
namespace {

using Json = nlohmann::ordered_json;

// Times in the file are microseconds since then: doubles have no nanoseconds of those since 1970.
// Midnight before a day that all of them are of, so that files of one job mostly agree.
int64_t base_ns(const Moment& now) {
  constexpr int64_t kDayNs = int64_t{24} * 3600 * 1'000'000'000;
  return (now.real_ns / kDayNs - 1) * kDayNs;
}

double us(int64_t ns) { return static_cast<double>(ns) / 1000; }

bool waits_in(const RankSnapshot& rank, const CallRecord& record) {
  return std::ranges::any_of(rank.waits, [&](const Wait& wait) {
    return wait.kind == WaitKind::kCall && wait.record.sequence == record.sequence;
  });
}

// When the last rank of this host entered the call; 0: not known of all.
uint64_t last_entry(const CommunicatorSnapshot& snapshot, uint64_t sequence) {
  uint64_t last = 0;
  for (const RankSnapshot& rank : snapshot.ranks) {
    const PastCall* const call = rank.call(sequence);
    if (call == nullptr || call->begun == 0) return 0;
    last = std::max(last, call->begun);
  }
  return last;
}

std::string_view to_string(CallSpan::End end) {
  switch (end) {
    case CallSpan::End::kMeasured: return "measured";
    case CallSpan::End::kEstimated: return "estimated";
    case CallSpan::End::kOpen: return "the rank is in the call";
  }
  return "";
}

// A rank's place in the file.
struct Row {
  int pid = 0;
  int track = 0;
  int64_t base_ns = 0;
};

// Without it on some rank, no rank can have its result.
bool waits_for_all(const CallRecord& record) {
  switch (static_cast<Collective>(record.collective)) {
    case Collective::kBarrier: return true;
    case Collective::kAllreduce:
    case Collective::kAllgather:
    case Collective::kReduceScatter:
    case Collective::kAlltoall: return record.count > 0;
    default: return false;
  }
}

Json name_of(const char* what, const Row& row, const std::string& name) {
  return {{"name", what},
          {"ph", "M"},
          {"pid", row.pid},
          {"tid", row.track},
          {"args", {{"name", name}}}};
}

// More than any process or thread has.
constexpr int kFirstTrack = 1 << 22;
// Between those of a communicator's workers.
constexpr int kMostTracks = 1 << 12;

// Processes of several hosts may have the same number, viewers take them for one: all but the first
// are given others.
class Pids {
 public:
  int of(const CommunicatorSnapshot& snapshot, const RankSnapshot& rank) {
    const auto [known, added] = numbers_.try_emplace({snapshot.host_of(rank), rank.pid}, rank.pid);
    if (added && !taken_.insert(rank.pid).second) known->second = next_++;
    return known->second;
  }

 private:
  std::map<std::pair<std::string, int>, int> numbers_;
  std::set<int> taken_;
  int next_ = kFirstTrack;
};

Json event(const Row& row, std::string name, int64_t begin_ns, int64_t end_ns,
           const char* category = "tutti") {
  return {{"name", std::move(name)},
          {"cat", category},
          {"ph", "X"},
          {"ts", us(begin_ns - row.base_ns)},
          {"dur", us(end_ns - begin_ns)},
          {"pid", row.pid},
          {"tid", row.track}};
}

// When the first worker has made the first and the last step of each call.
using StepSpans = std::map<uint64_t, CallSpan>;

StepSpans spans_of(const std::vector<StepsOf>& workers, const RankSnapshot& rank,
                   const StampClock& clock) {
  StepSpans spans;
  for (const StepsOf& worker : workers) {
    if (worker.rank != rank.rank || !clock.known()) continue;
    for (const TracedStep& step : worker.steps) {
      const CallSpan whole{.begin_ns = clock.real_ns(step.begun),
                           .end_ns = clock.real_ns(step.ended)};
      const auto [known, added] = spans.try_emplace(step.sequence, whole);
      known->second.begin_ns = std::min(known->second.begin_ns, whole.begin_ns);
      known->second.end_ns = std::max(known->second.end_ns, whole.end_ns);
    }
  }
  return spans;
}

// The first worker's lie within the calls, on their track; each other's have a track of their own.
void add_steps(Json& events, const TracedCommunicator& traced, const RankSnapshot& rank,
               const Row& row, const StampClock& clock) {
  Row worker_row = row;
  size_t number = 0;
  for (const StepsOf& worker : traced.workers) {
    if (worker.rank != rank.rank || !clock.known()) continue;
    if (number++ > 0 && !worker.steps.empty()) {
      worker_row.track = row.track + static_cast<int>(number) * kMostTracks;
      events.push_back(name_of("thread_name", worker_row,
                               fmt::format("{}, worker {}", traced.snapshot.name, number - 1)));
    }
    for (const TracedStep& step : worker.steps) {
      Json json = event(worker_row, describe(step), clock.real_ns(step.begun),
                        clock.real_ns(step.ended), "tutti.step");
      json["args"] = {{"sequence", step.sequence}, {"bytes", step.bytes}};
      events.push_back(std::move(json));
    }
  }
}

void add_calls(Json& events, const CommunicatorSnapshot& snapshot, const RankSnapshot& rank,
               const Row& row, const StampClock& clock, const Moment& now, const StepSpans& steps) {
  for (size_t i = 0; i < rank.past.size(); ++i) {
    const PastCall& call = rank.past[i];
    if (call.begun == 0) continue;
    CallSpan span = span_of(snapshot, rank, i, clock, now.real_ns);
    if (const auto within = steps.find(call.record.sequence); within != steps.end()) {
      span.begin_ns = std::min(span.begin_ns, within->second.begin_ns);
      span.end_ns = std::max(span.end_ns, within->second.end_ns);
    }
    Json json = event(row, describe(call.record), span.begin_ns, span.end_ns);
    json["args"] = {{"communicator", snapshot.name},
                    {"rank", rank.rank},
                    {"sequence", call.record.sequence},
                    {"count", call.record.count},
                    {"end", to_string(span.end)}};
    // For who merges traces of several hosts.
    if (snapshot.key != 0) json["args"]["key"] = fmt::format("{:016x}", snapshot.key);
    if (snapshot.key != 0 && waits_for_all(call.record)) json["args"]["waits_for_all"] = true;
    events.push_back(std::move(json));
  }
}

// Messages leave no record, but whoever waits for one says so.
void add_waits(Json& events, const RankSnapshot& rank, const Row& row, const Moment& now) {
  for (const Wait& wait : rank.waits) {
    if (wait.kind == WaitKind::kCall) continue;
    const int64_t ns = now.monotonic_ns - wait.since_ms * 1'000'000;
    if (ns < 0 || wait.since_ms < 0 || ns > now.monotonic_ns) continue;
    Json json = event(row, describe(wait), now.real_ns - ns, now.real_ns);
    json["args"] = {{"end", to_string(CallSpan::End::kOpen)}};
    events.push_back(std::move(json));
  }
}

}  // namespace

CallSpan span_of(const CommunicatorSnapshot& snapshot, const RankSnapshot& rank, size_t index,
                 const StampClock& clock, int64_t now_ns) {
  const PastCall& call = rank.past[index];
  if (call.begun == 0 || !clock.known()) return {};
  CallSpan span{.begin_ns = clock.real_ns(call.begun)};
  span.end_ns = span.begin_ns;
  if (index + 1 == rank.past.size() && waits_in(rank, call.record)) {
    span.end = CallSpan::End::kOpen;
    span.end_ns = std::max(now_ns, span.begin_ns);
    return span;
  }
  if (call.ended > call.begun) {
    span.end = CallSpan::End::kMeasured;
    span.end_ns = clock.real_ns(call.ended);
    return span;
  }
  uint64_t end = std::max(last_entry(snapshot, call.record.sequence), call.begun);
  if (index + 1 < rank.past.size() && rank.past[index + 1].begun != 0) {
    end = std::min(end, rank.past[index + 1].begun);
  }
  span.end_ns = clock.real_ns(std::max(end, call.begun));
  return span;
}

std::string trace_of(const std::vector<TracedCommunicator>& communicators, const Moment& now,
                     int pid) {
  Json events = Json::array();
  Pids pids;
  for (size_t c = 0; c < communicators.size(); ++c) {
    const CommunicatorSnapshot& snapshot = communicators[c].snapshot;
    const auto track = static_cast<int>(c) + kFirstTrack;
    const StampClock clock(snapshot.made, now);
    for (const RankSnapshot& rank : snapshot.ranks) {
      if (!rank.present || (pid != 0 && rank.pid != pid)) continue;
      const int number = rank.number();
      const Row row{.pid = pids.of(snapshot, rank), .track = track, .base_ns = base_ns(now)};
      events.push_back(
          name_of("process_name", {.pid = row.pid},
                  fmt::format("rank {} (pid {} on {})", number, rank.pid, snapshot.host_of(rank))));
      Json& about = events.back()["args"];
      about.update({{"rank", number}, {"pid", rank.pid}, {"host", snapshot.host_of(rank)}});
      events.push_back(name_of("thread_name", row, snapshot.name));
      add_calls(events, snapshot, rank, row, clock, now,
                spans_of(communicators[c].workers, rank, clock));
      add_steps(events, communicators[c], rank, row, clock);
      add_waits(events, rank, row, now);
    }
  }
  const Json whole = {{"displayTimeUnit", "ns"},
                      {"baseTimeNanoseconds", base_ns(now)},
                      {"traceEvents", std::move(events)}};
  return json_text(whole, -1) + "\n";
}

}  // namespace tutti::inspect
