// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Variables set by hand: RANK, WORLD_SIZE, perhaps LOCAL_RANK and LOCAL_WORLD_SIZE, MASTER_ADDR and
// MASTER_PORT. Many scripts of clusters set these from what their scheduler says. Slurm itself is
// believed if they add nothing to it and name no address at which ranks meet: it knows the step.
#include "bootstrap/launchers/launchers.hpp"

namespace tutti::launchers {
namespace {

constexpr Names kNames = {"the environment", "RANK", "WORLD_SIZE", "LOCAL_RANK",
                          "LOCAL_WORLD_SIZE"};

// Whether it names this host for certain.
bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

bool as_slurm_says(const Getter& getter) {
  const std::string host = getter("MASTER_ADDR").value_or("");
  const auto same = [&](const char* ours, const char* theirs) {
    return getter(ours) && getter(ours) == getter(theirs);
  };
  return same("RANK", "SLURM_PROCID") && same("WORLD_SIZE", "SLURM_STEP_NUM_TASKS") &&
         getter("WORLD_SIZE") != "1" && (host.empty() || is_loopback(host));
}

Result<JobPlace> place_of(const Getter& getter) {
  auto place = place_by(getter, kNames, "by hand " + master(getter));
  if (!place.ok() || place->ranks == 1) return place;
  TUTTI_RETURN_IF_ERROR(check_master(getter).with_context(kNames.launcher));
  // Who gives an address of the network may mean several hosts, even if he does not say how many
  // processes are on each.
  const std::string host = getter("MASTER_ADDR").value_or("localhost");
  const bool local_known = getter("LOCAL_WORLD_SIZE") || getter("CCL_LOCAL_SIZE");
  if (!local_known && !is_loopback(host)) {
    place->route.kind = Route::Kind::kNone;
  }
  return place;
}

}  // namespace

KnownLauncher by_hand() {
  return {[](const Getter& getter) { return any_set(getter, kNames) && !as_slurm_says(getter); },
          place_of, Launcher::kTorchrun};
}

}  // namespace tutti::launchers
