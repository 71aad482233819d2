// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The manual: pages of the command and its subcommands, from what --help is made of, and of the
// variables, from the tables in env/.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tutti {

// tutti(1), or tutti-NAME(1) of a subcommand of `app`.
std::string man_page(const CLI::App& app, const std::string& subcommand);

std::string variables_markdown();  // docs/variables.md
std::string variables_man_page();  // tutti-variables(7)

}  // namespace tutti
