// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The tutti command: a subcommand is a file that defines add_<name>(CLI::App&), and a line in
// commands.inc.
#include <tutti/tutti.h>

#include <CLI/CLI.hpp>

#define TUTTI_COMMAND(name) void add_##name(CLI::App& app);
#include "tools/commands.inc"
#undef TUTTI_COMMAND

int main(int argc, char** argv) {
  CLI::App app{"Tutti: collective communication between the processes of a job"};
  app.name("tutti");
  app.set_version_flag("--version", std::string("tutti ") + tutti_version_string());
  app.require_subcommand(1);
#define TUTTI_COMMAND(name) add_##name(app);
#include "tools/commands.inc"
#undef TUTTI_COMMAND
  CLI11_PARSE(app, argc, argv);
  return 0;
}
