// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "exec/call.hpp"
#include "exec/lateness.hpp"

namespace tutti::inspect {
namespace {

using Json = nlohmann::ordered_json;

double us(int64_t ns) { return static_cast<double>(ns) / 1000; }

bool waits_in(const RankView& rank, const CallRecord& record) {
  return std::ranges::any_of(rank.waits, [&](const Wait& wait) {
    return wait.kind == WaitKind::kCall && wait.record.sequence == record.sequence;
  });
}

// When the last rank of this host entered the call; 0: not known of all.
uint64_t last_entry(const CommunicatorView& view, uint64_t sequence) {
  uint64_t last = 0;
  for (const RankView& rank : view.ranks) {
    const PastCall* const call = rank.call(sequence);
    if (call == nullptr || call->begun == 0) return 0;
    last = std::max(last, call->begun);
  }
  return last;
}

std::string_view to_string(Extent::End end) {
  switch (end) {
    case Extent::End::kMeasured: return "measured";
    case Extent::End::kEstimated: return "estimated";
    case Extent::End::kOpen: return "the rank is in the call";
  }
  return "";
}

Json name_of(const char* what, int pid, int track, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", pid}, {"tid", track}, {"args", {{"name", name}}}};
}

Json event(const RankView& rank, int track, std::string name, int64_t begin_ns, int64_t end_ns) {
  return {{"name", std::move(name)},      {"cat", "tutti"},  {"ph", "X"},   {"ts", us(begin_ns)},
          {"dur", us(end_ns - begin_ns)}, {"pid", rank.pid}, {"tid", track}};
}

void add_calls(Json& events, const CommunicatorView& view, const RankView& rank, int track,
               const StampClock& clock, const Moment& now) {
  for (size_t i = 0; i < rank.past.size(); ++i) {
    const PastCall& call = rank.past[i];
    if (call.begun == 0) continue;
    const Extent extent = extent_of(view, rank, i, clock, now.real_ns);
    Json json = event(rank, track, describe(call.record), extent.begin_ns, extent.end_ns);
    json["args"] = {{"communicator", view.name},
                    {"rank", rank.rank},
                    {"sequence", call.record.sequence},
                    {"count", call.record.count},
                    {"end", to_string(extent.end)}};
    events.push_back(std::move(json));
  }
}

// Messages leave no record, but whoever waits for one says so.
void add_waits(Json& events, const RankView& rank, int track, const Moment& now) {
  for (const Wait& wait : rank.waits) {
    if (wait.kind == WaitKind::kCall) continue;
    const int64_t ns = now.monotonic_ns - wait.since_ms * 1'000'000;
    if (ns < 0 || wait.since_ms < 0 || ns > now.monotonic_ns) continue;
    Json json = event(rank, track, describe(wait), now.real_ns - ns, now.real_ns);
    json["args"] = {{"end", to_string(Extent::End::kOpen)}};
    events.push_back(std::move(json));
  }
}

}  // namespace

Extent extent_of(const CommunicatorView& view, const RankView& rank, size_t index,
                 const StampClock& clock, int64_t now_ns) {
  const PastCall& call = rank.past[index];
  if (call.begun == 0 || !clock.known()) return {};
  Extent extent{.begin_ns = clock.real_ns(call.begun)};
  extent.end_ns = extent.begin_ns;
  if (index + 1 == rank.past.size() && waits_in(rank, call.record)) {
    extent.end = Extent::End::kOpen;
    extent.end_ns = std::max(now_ns, extent.begin_ns);
    return extent;
  }
  if (call.ended > call.begun) {
    extent.end = Extent::End::kMeasured;
    extent.end_ns = clock.real_ns(call.ended);
    return extent;
  }
  uint64_t end = std::max(last_entry(view, call.record.sequence), call.begun);
  if (index + 1 < rank.past.size() && rank.past[index + 1].begun != 0) {
    end = std::min(end, rank.past[index + 1].begun);
  }
  extent.end_ns = clock.real_ns(std::max(end, call.begun));
  return extent;
}

std::string trace_of(const std::vector<const CommunicatorView*>& communicators, const Moment& now,
                     int pid) {
  Json events = Json::array();
  for (size_t c = 0; c < communicators.size(); ++c) {
    const CommunicatorView& view = *communicators[c];
    const auto track = static_cast<int>(c) + 1;
    const StampClock clock(view.made, now);
    for (const RankView& rank : view.ranks) {
      if (!rank.present || (pid != 0 && rank.pid != pid)) continue;
      const int number = rank.global_rank < 0 ? rank.rank : rank.global_rank;
      events.push_back(name_of("process_name", rank.pid, 0,
                               fmt::format("rank {} (pid {} on {})", number, rank.pid, view.host)));
      events.push_back(name_of("thread_name", rank.pid, track, view.name));
      add_calls(events, view, rank, track, clock, now);
      add_waits(events, rank, track, now);
    }
  }
  const Json whole = {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
  return whole.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tutti::inspect
