// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reading a place from variables.
#include <charconv>

#include "bootstrap/launchers/launchers.hpp"
#include "env/values.hpp"

namespace tutti::launchers {
namespace {

constexpr Names kCclLocal = {"CCL_PROCESS_LAUNCHER=none", "CCL_LOCAL_RANK", "CCL_LOCAL_SIZE",
                             "CCL_LOCAL_RANK", "CCL_LOCAL_SIZE"};

// A rank and the number of them.
struct RankOfRanks {
  int rank;
  int ranks;
};

constexpr int kLastPort = 65535;

// nullopt if neither is set.
Result<std::optional<RankOfRanks>> read_rank(const Getter& getter, const char* rank_name,
                                             const char* ranks_name) {
  const auto rank_text = getter(rank_name);
  const auto ranks_text = getter(ranks_name);
  if (!rank_text && !ranks_text) return std::optional<RankOfRanks>();
  if (!rank_text || !ranks_text) {
    return Status::format(Code::kInvalidArgument,
                          "{} is \"{}\" but {} is not set: expected both, as a launcher sets them, "
                          "or neither",
                          rank_text ? rank_name : ranks_name, rank_text ? *rank_text : *ranks_text,
                          rank_text ? ranks_name : rank_name);
  }
  TUTTI_ASSIGN_OR_RETURN(auto rank, read_number(rank_name, *rank_text, 0));
  TUTTI_ASSIGN_OR_RETURN(auto ranks, read_number(ranks_name, *ranks_text, 1));
  if (rank >= ranks) {
    return Status::format(Code::kInvalidArgument,
                          "{} is \"{}\" and {} is \"{}\": expected a rank from 0 to {}", rank_name,
                          *rank_text, ranks_name, *ranks_text, ranks - 1);
  }
  return std::optional<RankOfRanks>({rank, ranks});
}

// Scripts of clusters often set a local rank alone. It does not say how many processes are on this
// host, so it counts as not set.
Result<std::optional<RankOfRanks>> read_local(const Getter& getter, const Names& names) {
  const auto alone = getter(names.local_rank);
  if (names.launcher == kCclLocal.launcher || !alone || getter(names.local_ranks)) {
    return read_rank(getter, names.local_rank, names.local_ranks);
  }
  const auto number = read_number(names.local_rank, *alone, 0);
  return number.ok() ? Result<std::optional<RankOfRanks>>(std::nullopt) : number.status();
}

}  // namespace

bool any_set(const Getter& getter, const Names& names) {
  return getter(names.rank) || getter(names.ranks);
}

Result<int> read_number(const char* name, const std::string& text, int lowest) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && parsed == end && value >= lowest && !text.empty()) return value;
  return Status::format(Code::kInvalidArgument,
                        "{} is \"{}\": expected a whole number, at least {}", name, text, lowest);
}

Result<int> read_port(const char* name, const std::string& text) {
  auto port = read_number(name, text, 1);
  if (port.ok() && *port <= kLastPort) return port;
  return Status::format(Code::kInvalidArgument, "{} is \"{}\": expected a port, 1 to {}", name,
                        text, kLastPort);
}

Status check_master(const Getter& getter) {
  if (const auto host = getter("MASTER_ADDR"); host && host->empty()) {
    return {Code::kInvalidArgument,
            "MASTER_ADDR is \"\": expected the name or the address of the host of rank 0, or no "
            "such variable"};
  }
  const auto port = getter("MASTER_PORT");
  return port ? read_port("MASTER_PORT", *port).status() : Status();
}

Result<JobPlace> place_by(const Getter& getter, const Names& names, std::string key) {
  auto global = read_rank(getter, names.rank, names.ranks);
  if (!global.ok()) return global.status().with_context(names.launcher);
  if (!*global) {
    return Status::format(Code::kInvalidArgument, "{}: neither {} nor {} is set", names.launcher,
                          names.rank, names.ranks);
  }
  const bool by_ccl = lower_case(getter("CCL_PROCESS_LAUNCHER").value_or("")) == "none";
  const Names& local_names = by_ccl ? kCclLocal : names;
  auto local = read_local(getter, local_names);
  if (!local.ok()) return local.status().with_context(local_names.launcher);
  const RankOfRanks all = **global;
  const RankOfRanks here = local->value_or(all);
  if (here.ranks > all.ranks) {
    return Status::format(Code::kInvalidArgument,
                          "{} is \"{}\" and {} is \"{}\": expected at most as "
                          "many processes on this host as in all",
                          local_names.local_ranks, here.ranks, names.ranks, all.ranks);
  }
  JobPlace place{all.rank, all.ranks, here.rank, here.ranks, std::move(key), names.launcher, {}};
  if (here.ranks < all.ranks) place.route.kind = Route::Kind::kNone;
  return place;
}

std::string value_or_none(const Getter& getter, const char* name) {
  return getter(name).value_or("none");
}

std::string master(const Getter& getter) {
  return value_or_none(getter, "MASTER_ADDR") + ":" + value_or_none(getter, "MASTER_PORT");
}

Result<Route> pmi_route(const Getter& getter) {
  Route route;
  route.kind = Route::Kind::kNone;
  const auto fd = getter("PMI_FD");
  if (!fd) return route;
  TUTTI_ASSIGN_OR_RETURN(auto number, read_number("PMI_FD", *fd, 0));
  route.kind = Route::Kind::kPmi;
  route.pmi_fd = number;
  return route;
}

Route pmix_route(const Getter& getter) {
  Route route;
  route.kind = getter("PMIX_NAMESPACE") ? Route::Kind::kPmix : Route::Kind::kNone;
  return route;
}

}  // namespace tutti::launchers
