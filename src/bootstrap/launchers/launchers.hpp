// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The interface of a launcher's file, and the reading of a place from variables, which the files
// share.
#pragma once

#include <optional>
#include <string>

#include "bootstrap/launcher.hpp"

namespace tutti::launchers {

struct KnownLauncher {
  // Whether its variables are set, be it by half.
  bool (*present)(const Getter& getter);
  // The place by them, with the launcher's own route when the job has several hosts.
  Result<JobPlace> (*place)(const Getter& getter);
  // The value of CCL_PROCESS_LAUNCHER that stands for it; kAuto: none.
  Launcher word = Launcher::kAuto;
};

#define TUTTI_LAUNCHER(name) KnownLauncher name();
#include "bootstrap/launchers.inc"
#undef TUTTI_LAUNCHER

// The variables by which a launcher tells a process its place.
struct Names {
  const char* launcher;
  const char* rank;
  const char* ranks;
  const char* local_rank;
  const char* local_ranks;
};

// Whether one of the first two is set.
bool any_set(const Getter& getter, const Names& names);

Result<int> read_number(const char* name, const std::string& text, int lowest);
Result<int> read_port(const char* name, const std::string& text);
// MASTER_ADDR and MASTER_PORT, where they are set: the ranks would wait for one another in vain.
Status check_master(const Getter& getter);

// The place by these variables. The number of processes on this host, or both of the local two, may
// be missing. The result then says kOneHost if all processes are on one host, and kNone if there
// are several.
Result<JobPlace> place_by(const Getter& getter, const Names& names, std::string key);

// MASTER_ADDR and MASTER_PORT as a part of a key.
std::string master(const Getter& getter);
std::string value_or_none(const Getter& getter, const char* name);

// The process manager behind PMI_FD; kNone if that is not set.
Result<Route> pmi_route(const Getter& getter);
// kPmix if PMIX_NAMESPACE is set, else kNone.
Route pmix_route(const Getter& getter);

}  // namespace tutti::launchers
