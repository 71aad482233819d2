// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "core/fd.hpp"
#include "core/files.hpp"
#include "core/log.hpp"
#include "exec/call.hpp"
#include "exec/wait_reporter.hpp"
#include "transports/names.hpp"

namespace tutti {
namespace {

// How many calls of a rank, and how many ranks, a report has.
constexpr size_t kMostCalls = 3;
constexpr size_t kMostRanksShown = 16;

constexpr std::string_view kNext =
    "to see more: tutti why, while a job waits; TUTTI_TRACE=FILE leaves traces of all ranks behind";

bool write_file(const std::string& path, std::string_view text) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  return file.open() && write_all(file.get(), text);
}

// "rank 0 (pid 77): barrier #1, allreduce #2 (8 float32, sum), 2.0 s ago", a line for each rank.
std::string last_calls_of(const inspect::CommunicatorSnapshot& snapshot) {
  std::string text;
  const StampClock clock(snapshot.made, moment_now());
  for (size_t r = 0; r < snapshot.ranks.size(); ++r) {
    if (r == kMostRanksShown)
      return text + fmt::format("and {} more ranks\n", snapshot.ranks.size() - r);
    const inspect::RankSnapshot& rank = snapshot.ranks[r];
    std::string calls;
    const size_t first = rank.past.size() - std::min(rank.past.size(), kMostCalls);
    for (size_t i = first; i < rank.past.size(); ++i) {
      calls += (calls.empty() ? "" : ", ") + describe(rank.past[i].record);
    }
    const uint64_t begun = calls.empty() ? 0 : rank.past.back().begun;
    const double age_s = begun == 0 || !clock.known() ? -1 : seconds_since(begun);
    text += fmt::format("rank {} (pid {}): {}{}\n", rank.rank, rank.pid,
                        calls.empty() ? "no call" : calls,
                        age_s < 0 ? "" : fmt::format(", {:.1f} s ago", age_s));
  }
  return text;
}

}  // namespace

std::optional<inspect::CommunicatorSnapshot> snapshot_of(Transport& transport) {
  const std::span<const std::byte> memory = transport.mapped_memory();
  const inspect::ProcessSource source(getpid(),
                                      {{.address = reinterpret_cast<uint64_t>(memory.data()),
                                        .offset = 0,
                                        .bytes = memory.size()}});
  auto seen = inspect::take_snapshot(source);
  if (!seen.ok()) return std::nullopt;
  return *std::move(seen);
}

void TraceFile::add(inspect::TracedCommunicator traced, int job_rank) {
  const std::lock_guard lock(mutex_);
  std::erase_if(traced_, [&](const inspect::TracedCommunicator& old) {
    return old.snapshot.name == traced.snapshot.name &&
           old.snapshot.made.monotonic_ns == traced.snapshot.made.monotonic_ns;
  });
  traced_.push_back(std::move(traced));
  const std::string path = fmt::format("{}.{}", path_, job_rank);
  if (!write_file(path, inspect::trace_of(traced_, moment_now(), getpid()))) {
    log::warn("TUTTI_TRACE: writing {}: {}", path, std::strerror(errno));
  }
}

// ---- of one communicator -----------------------------------------------------------------------

// "world" has failed on rank 0 (pid 77 on h) in allreduce #3 (8 float32, sum): rank 1 (pid 78 on
// h) has died.
std::string Report::line(const Status& cause) const {
  const std::optional<Wait> wait = wait_of(transport_, rank_);
  const std::string call = wait ? " in " + describe(*wait) : "";
  // A deadline's cause says already who waited in what.
  const std::string where = cause.code() == Code::kTimeout
                                ? ""
                                : " on " + name_of(rank_, transport_.process(rank_)) + call;
  return fmt::format("\"{}\" has failed{}: {}", name_, where, cause.message());
}

void Report::say(const Status& cause, bool quietly) {
  const LogLevel level = quietly ? LogLevel::kInfo : LogLevel::kWarn;
  if (!log::enabled(level)) return;
  try {
    // Who does not read the log must not keep the peers from learning it.
    if (log::would_block()) {
      unsaid_ = line(cause);
    } else {
      log::write(level, line(cause));
    }
  } catch (const std::bad_alloc&) {
  }
}

void Report::more(const Status& cause, bool quietly) {
  const bool puzzles = cause.code() == Code::kTimeout || cause.code() == Code::kMismatch;
  const LogLevel level = puzzles && !quietly ? LogLevel::kWarn : LogLevel::kInfo;
  try {
    if (!unsaid_.empty()) {
      log::write(quietly ? LogLevel::kInfo : LogLevel::kWarn, std::exchange(unsaid_, {}));
    }
    if (const auto seen = snapshot_of(transport_)) {
      log::message(level, "\"{}\": the last calls of its ranks on this host:\n{}{}", name_,
                   last_calls_of(*seen), puzzles ? kNext : "");
    }
  } catch (const std::bad_alloc&) {
  }
  trace();
}

void Report::trace() {
  if (!file_.wanted()) return;
  try {
    auto seen = snapshot_of(transport_);
    if (!seen) return;
    inspect::TracedCommunicator traced{.snapshot = *std::move(seen)};
    for (const auto& steps : steps_) {
      traced.workers.push_back({.rank = rank_, .steps = steps->steps()});
    }
    file_.add(std::move(traced), job_rank_);
  } catch (const std::bad_alloc&) {
  }
}

void Report::trace_if_quiet() {
  try {
    const auto now = snapshot_of(transport_);
    const inspect::RankSnapshot* const own = now ? now->find(rank_) : nullptr;
    if (own == nullptr) return;
    std::vector<int64_t> state = {own->entered};
    for (const Wait& wait : own->waits) state.push_back(wait.since_ms);
    if (state == seen_ && state != traced_) {
      traced_ = state;
      trace();
    }
    seen_ = std::move(state);
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace tutti
