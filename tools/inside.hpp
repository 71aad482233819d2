// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The common part of the subcommands that look at running jobs from outside.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "inspect/blame.hpp"
#include "inspect/verdict.hpp"

namespace tutti::tools {

// The options that choose a job.
void add_wanted(CLI::App& command, tutti::inspect::Wanted& wanted);
// The exit statuses of the commands that judge jobs.
enum ExitStatus : int { kWell, kSlow, kHung, kNothingToSee };
// Ends the command with kNothingToSee.
[[noreturn]] void nothing_to_see(const char* command, const tutti::inspect::Wanted& wanted);
// "host0, host1".
std::string hosts_of(const tutti::inspect::CommunicatorSnapshot& snapshot);
// "on host0 ", as long for all ranks; empty where there is one host only.
std::string host_column(const tutti::inspect::CommunicatorSnapshot& snapshot,
                        const tutti::inspect::RankSnapshot& rank);
nlohmann::ordered_json communicators_json(const tutti::inspect::Job& job);

}  // namespace tutti::tools
