// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the subcommands share that look at running jobs from outside.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "inspect/blame.hpp"
#include "inspect/verdict.hpp"

namespace tutti_tools {

// The options that choose a job.
void add_wanted(CLI::App& command, tutti::inspect::Wanted& wanted);
// Ends the command with that status.
[[noreturn]] void nothing_to_see(const char* command, const tutti::inspect::Wanted& wanted,
                                 int status);
nlohmann::ordered_json communicators_json(const tutti::inspect::Job& job);

}  // namespace tutti_tools
