// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The manual's pages of the command and its subcommands, from what --help is made of.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tutti {

// tutti(1), or tutti-NAME(1) of a subcommand of `app`.
std::string man_page(const CLI::App& app, const std::string& subcommand);

}  // namespace tutti
