// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/inside.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "exec/wait_reporter.hpp"
#include "tools/checks.hpp"

namespace tutti::tools {
namespace {

using namespace inspect;
using Json = nlohmann::ordered_json;

// Null where nothing is known.
Json seconds(double value) { return value < 0 ? Json(nullptr) : Json(value); }

// A peer may have written anything: names of what does not exist are null.
Json call_json(const CallRecord& record) {
  Json json = {{"text", tutti::describe(record)}, {"sequence", record.sequence}};
  const bool known = record.collective < tutti::kCollectives && record.type < tutti::kDataTypes;
  json["collective"] =
      known ? Json(tutti::collective_name(static_cast<tutti::Collective>(record.collective)))
            : Json(nullptr);
  json["type"] =
      known ? Json(tutti::type_name(static_cast<tutti::DataType>(record.type))) : Json(nullptr);
  json["count"] = record.count;
  json["root"] = record.root < 0 ? Json(nullptr) : Json(record.root);
  return json;
}

Json wait_json(const Job& job, const Communicator& communicator, const RankSnapshot& rank,
               const Wait& wait) {
  Json json = {{"text", describe(wait)},
               {"seconds", job.age_s(wait)},
               {"thread", wait.thread},
               {"started", wait.started != 0}};
  if (wait.kind == WaitKind::kCall) json["call"] = call_json(wait.record);
  Json awaited = Json::array();
  for (const auto& late : whom_it_awaits(job, {&communicator, &rank, &wait})) {
    awaited.push_back(late.number);
  }
  json["for_ranks"] = awaited;
  return json;
}

Json rank_json(const Job& job, const Communicator& communicator, const RankSnapshot& rank) {
  Json json = {{"rank", rank.rank},
               {"global_rank", rank.number()},
               {"pid", rank.pid},
               {"host", communicator.snapshot.host_of(rank)}};
  if (!rank.answers) json["silent_s"] = rank.silent_s;
  const Process* const process = job.process_of(communicator, rank.place);
  json["state"] = process == nullptr ? Json(nullptr) : Json(std::string(1, process->state.letter));
  json["computes"] = process != nullptr && process->busy && rank.waits.empty();
  json["program"] = process == nullptr ? Json(nullptr) : Json(process->program);
  json["left"] = rank.left;
  json["last_call"] = nullptr;
  if (const PastCall* last = rank.last()) {
    json["last_call"] = call_json(last->record);
    json["last_call"]["seconds_ago"] = seconds(job.age_s(communicator, *last));
  }
  json["waits"] = Json::array();
  for (const Wait& wait : rank.waits) {
    json["waits"].push_back(wait_json(job, communicator, rank, wait));
  }
  return json;
}

// Ends the command if there is no such process, or it may not be looked at.
void refuse_what_is_not_ours(const char* command, int pid) {
  if (access(fmt::format("/proc/{}", pid).c_str(), F_OK) != 0) {
    fmt::print(stderr, "{}: there is no process {} on this host\n", command, pid);
    throw CLI::RuntimeError(kNothingToSee);
  }
  if (may_look_at(pid)) return;
  fmt::print(stderr, "{}: process {} is another user's: run this as that user, or as root\n",
             command, pid);
  throw CLI::RuntimeError(kNothingToSee);
}

}  // namespace

void add_wanted(CLI::App& command, Wanted& wanted) {
  command.add_option("PID", wanted.pid, "A process of the job; without it all jobs of this user")
      ->check(tutti::above_zero());
  command.add_option("--job", wanted.name,
                     "Name of the job (TUTTI_JOB, or that of Slurm, torchrun or PMIx), or of a "
                     "communicator");
  command.add_flag("!--here", wanted.reach.far,
                   "Of this host only: do not ask ranks of other hosts");
}

void nothing_to_see(const char* command, const Wanted& wanted) {
  if (wanted.pid != 0) refuse_what_is_not_ours(command, wanted.pid);
  std::string whose = "no process of this user on this host has a";
  if (wanted.pid != 0) whose = fmt::format("process {} has no", wanted.pid);
  if (!wanted.name.empty()) {
    whose = fmt::format("no process of this user of a job \"{}\" has a", wanted.name);
  }
  fmt::print(stderr, "{}: {} communicator of Tutti\n", command, whose);
  fmt::print(stderr,
             "A process that still waits for others to arrive has none: the log of rank 0 says for "
             "whom, after 10 s (TUTTI_WARN_AFTER_MS).\n");
  throw CLI::RuntimeError(kNothingToSee);
}

std::string hosts_of(const CommunicatorSnapshot& snapshot) {
  constexpr size_t kMostHosts = 8;
  std::vector<std::string> hosts = {snapshot.host};
  for (const RankSnapshot& rank : snapshot.ranks) {
    if (std::ranges::find(hosts, snapshot.host_of(rank)) != hosts.end()) continue;
    hosts.push_back(hosts.size() < kMostHosts ? snapshot.host_of(rank) : "...");
    if (hosts.size() > kMostHosts) break;
  }
  return fmt::format("{}", fmt::join(hosts, ", "));
}

std::string host_column(const CommunicatorSnapshot& snapshot, const RankSnapshot& rank) {
  if (!snapshot.across_hosts()) return "";
  size_t width = snapshot.host.size();
  for (const RankSnapshot& one : snapshot.ranks) width = std::max(width, one.host.size());
  return fmt::format("on {:<{}} ", snapshot.host_of(rank), width);
}

Json communicators_json(const Job& job) {
  Json all = Json::array();
  for (const Communicator& communicator : job.communicators) {
    const auto& snapshot = communicator.snapshot;
    if (!communicator.status.ok()) {
      all.push_back({{"error", communicator.status.message()}});
      continue;
    }
    Json ranks = Json::array();
    for (const RankSnapshot& rank : snapshot.ranks)
      ranks.push_back(rank_json(job, communicator, rank));
    all.push_back({{"name", snapshot.name},
                   {"job", snapshot.job},
                   {"host", snapshot.host},
                   {"ranks_of_all_hosts", snapshot.all_ranks},
                   {"broken", snapshot.stopped ? Json(snapshot.cause) : Json(nullptr)},
                   {"moved", communicator.moved},
                   {"ranks", ranks}});
  }
  return all;
}

}  // namespace tutti::tools
