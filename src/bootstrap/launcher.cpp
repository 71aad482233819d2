// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/launcher.hpp"

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <optional>

#include "bootstrap/ancestor.hpp"
#include "bootstrap/join.hpp"
#include "bootstrap/service.hpp"
#include "env/values.hpp"

namespace tutti {
namespace {

// The variables by which a launcher tells a process its place.
struct Names {
  const char* launcher;
  const char* rank;
  const char* ranks;
  const char* local_rank;
  const char* local_ranks;
};
constexpr Names kTuttiRun = {"tutti run", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr Names kTorchrun = {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr Names kOpenMpi = {"Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                            "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr Names kMpich = {"MPICH's mpirun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID",
                          "MPI_LOCALNRANKS"};
constexpr Names kByHand = {"the environment", "RANK", "WORLD_SIZE", "LOCAL_RANK",
                           "LOCAL_WORLD_SIZE"};
constexpr Names kCclLocal = {"CCL_PROCESS_LAUNCHER=none", "CCL_LOCAL_RANK", "CCL_LOCAL_SIZE",
                             "CCL_LOCAL_RANK", "CCL_LOCAL_SIZE"};

// A rank and the number of them; nullopt if neither is set.
struct Place {
  int rank;
  int ranks;
};

Result<int> read_number(const char* name, const std::string& text, int lowest) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && parsed == end && value >= lowest && !text.empty()) return value;
  return Status::format(Code::kInvalidArgument,
                        "{} is \"{}\": expected a whole number, at least {}", name, text, lowest);
}

Result<std::optional<Place>> read_place(const Getter& getter, const char* rank_name,
                                        const char* ranks_name) {
  const auto rank_text = getter(rank_name);
  const auto ranks_text = getter(ranks_name);
  if (!rank_text && !ranks_text) return std::optional<Place>();
  if (!rank_text || !ranks_text) {
    return Status::format(Code::kInvalidArgument,
                          "{} is \"{}\" but {} is not set: expected both, as a launcher sets them, "
                          "or neither",
                          rank_text ? rank_name : ranks_name, rank_text ? *rank_text : *ranks_text,
                          rank_text ? ranks_name : rank_name);
  }
  auto rank = read_number(rank_name, *rank_text, 0);
  if (!rank.ok()) return rank.status();
  auto ranks = read_number(ranks_name, *ranks_text, 1);
  if (!ranks.ok()) return ranks.status();
  if (*rank >= *ranks) {
    return Status::format(Code::kInvalidArgument,
                          "{} is \"{}\" and {} is \"{}\": expected a rank from 0 to {}", rank_name,
                          *rank_text, ranks_name, *ranks_text, *ranks - 1);
  }
  return std::optional<Place>({*rank, *ranks});
}

bool placed_by_ccl(const Getter& getter) {
  return lower_case(getter("CCL_PROCESS_LAUNCHER").value_or("")) == "none";
}

// The place by one launcher's variables; the local ones may be missing altogether: one host.
Result<JobPlace> place_by(const Getter& getter, const Names& names, std::string key) {
  auto global = read_place(getter, names.rank, names.ranks);
  if (!global.ok()) return global.status().with_context(names.launcher);
  if (!*global) {
    return Status::format(Code::kInvalidArgument, "{}: neither {} nor {} is set", names.launcher,
                          names.rank, names.ranks);
  }
  const bool by_ccl = placed_by_ccl(getter);
  const Names& local_names = by_ccl ? kCclLocal : names;
  auto local = read_place(getter, local_names.local_rank, local_names.local_ranks);
  if (!local.ok()) return local.status().with_context(local_names.launcher);
  const Place all = **global;
  const Place here = local->value_or(all);
  if (here.ranks > all.ranks) {
    return Status::format(Code::kInvalidArgument,
                          "{} is \"{}\" and {} is \"{}\": expected at most as "
                          "many processes on this host as in all",
                          local_names.local_ranks, here.ranks, names.ranks, all.ranks);
  }
  if (here.ranks < all.ranks) {
    return Status::format(Code::kUnsupported,
                          "{} is \"{}\" and {} is \"{}\": this release joins the processes of one "
                          "host only",
                          local_names.local_ranks, here.ranks, names.ranks, all.ranks);
  }
  return JobPlace{all.rank, all.ranks, here.rank, here.ranks, std::move(key), names.launcher};
}

std::string value_or_none(const Getter& getter, const char* name) {
  return getter(name).value_or("none");
}

std::string master(const Getter& getter) {
  return value_or_none(getter, "MASTER_ADDR") + ":" + value_or_none(getter, "MASTER_PORT");
}

}  // namespace

Result<JobPlace> detect_job(const Getter& getter) {
  if (const auto job = getter("TUTTI_JOB")) return place_by(getter, kTuttiRun, "tutti " + *job);
  if (const auto run = getter("TORCHELASTIC_RUN_ID")) {
    // A restarted job is another one: ranks of its earlier life may still be about.
    return place_by(getter, kTorchrun,
                    "torchrun " + *run + " " + master(getter) + " " +
                        value_or_none(getter, "TORCHELASTIC_RESTART_COUNT"));
  }
  if (getter(kOpenMpi.rank) || getter(kOpenMpi.ranks)) {
    auto job = getter("PMIX_NAMESPACE");
    if (!job) job = getter("OMPI_MCA_ess_base_jobid");
    return place_by(getter, kOpenMpi, "openmpi " + job.value_or(launching_process(kOpenMpi.rank)));
  }
  if (getter(kMpich.rank) || getter(kMpich.ranks)) {
    // PMI could tell the job's name, but over a wire that belongs to the MPI library of a program
    // that uses one. On one host all ranks descend from one process.
    return place_by(getter, kMpich, "mpich " + launching_process(kMpich.rank));
  }
  if (getter(kByHand.rank) || getter(kByHand.ranks)) {
    return place_by(getter, kByHand, "by hand " + master(getter));
  }
  if (placed_by_ccl(getter) && (getter(kCclLocal.rank) || getter(kCclLocal.ranks))) {
    return place_by(getter, kCclLocal, "ccl " + master(getter));
  }
  return JobPlace{0, 1, 0, 1, "alone", std::string(kNoLauncher)};
}

UniqueId id_for_job(const JobPlace& place) {
  static std::atomic<int> made{0};
  return derive_unique_id(
      fmt::format("{} user {} communicator {}", place.key, geteuid(), made.fetch_add(1)));
}

Result<std::unique_ptr<Exchange>> join_job(const JobPlace& place, int64_t deadline_ms) {
  if (place.ranks == 1) return exchange_alone();
  const UniqueId id = id_for_job(place);
  const std::string context =
      fmt::format("rank {} of {} by {}", place.rank, place.ranks, place.launcher);
  if (place.rank == 0) {
    if (Status started = start_service(id, deadline_ms); !started.ok()) {
      return started.with_context(context);
    }
  }
  auto exchange = join(id, place.rank, place.ranks, deadline_ms);
  if (!exchange.ok()) return exchange.status().with_context(context);
  return exchange;
}

}  // namespace tutti
