// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The tutti command: a subcommand is a file that defines add_<name>(CLI::App&), and a line in
// commands.inc.
#include <tutti/tutti.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <system_error>
#include <vector>

#include "tools/help.hpp"
#include "tools/man.hpp"
#include "tools/names.hpp"

#define TUTTI_COMMAND(name) void add_##name(CLI::App& app);
#include "tools/commands.inc"
#undef TUTTI_COMMAND

namespace {

// "tutti run -n 2 -- program": the program follows our options in any case. Behind a "--", CLI11
// 2.1 gives it to the wrong command.
std::vector<char*> without_separator(const CLI::App& app, int argc, char** argv) {
  std::vector<char*> words(argv, argv + argc);
  if (words.size() < 2 || std::string_view(words[1]) != "run") return words;
  const CLI::App* run = app.get_subcommand("run");
  for (size_t i = 2; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--") {
      words.erase(words.begin() + static_cast<ptrdiff_t>(i));
      break;
    }
    if (!word.starts_with('-')) break;  // the program
    const CLI::Option* option = run->get_option_no_throw(std::string(word));
    if (option != nullptr && option->get_items_expected_max() > 0) ++i;  // skips its value
  }
  return words;
}

// Called by another name, this process becomes the same command under its usual one. Others then
// see that alone, including those that start ranks from its command line.
void take_usual_name(int argc, char** argv) {
  const std::vector<std::string> given(argv, argv + argc);
  std::vector<std::string> words = tutti::usual_words(given);
  if (words == given) return;
  std::vector<char*> usual;
  for (std::string& word : words) usual.push_back(word.data());
  usual.push_back(nullptr);
  execv("/proc/self/exe", usual.data());
  throw std::system_error(errno, std::generic_category(), "cannot start tutti");
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(each->get_name());
  }
  return names;
}

int unknown_command(const std::string& given, const std::vector<std::string>& known) {
  std::fprintf(stderr, "tutti: there is no command '%s'%s\nRun with --help for all of them.\n",
               given.c_str(), tutti::did_you_mean(given, known).c_str());
  return 2;
}

// Suggests options for those that the subcommand does not have.
void hint_at_options(const CLI::App& command, const std::vector<char*>& words) {
  for (const std::string word : words) {
    if (!word.starts_with("--")) continue;
    if (command.get_option_no_throw(word.substr(0, word.find('='))) != nullptr) continue;
    const std::string hint = tutti::did_you_mean_option(word, command);
    if (!hint.empty()) std::fprintf(stderr, "%s%s\n", word.c_str(), hint.c_str());
  }
}

int run_command(int argc, char** argv) {
  CLI::App app{"Tutti: collective communication between the processes of a job"};
  app.name("tutti");
  app.formatter(std::make_shared<tutti::HelpFormatter>());
  app.set_version_flag("--version", std::string("tutti ") + tutti_version_string());
  app.require_subcommand(1);
#define TUTTI_COMMAND(name) add_##name(app);
#include "tools/commands.inc"
#undef TUTTI_COMMAND
  if (argc >= 2 && std::string_view(argv[1]) == "--man") {  // the installation asks for it
    std::fputs(tutti::man_page(app, argc > 2 ? argv[2] : "").c_str(), stdout);
    return 0;
  }
  if (argc == 2 && std::string_view(argv[1]) == "--options") {  // a test asks for it
    std::fputs(tutti::all_options(app).c_str(), stdout);
    return 0;
  }
  const std::vector<std::string> known = command_names(app);
  if (argc >= 2 && argv[1][0] != '-' && std::ranges::find(known, argv[1]) == known.end()) {
    return unknown_command(argv[1], known);
  }
  std::vector<char*> words = without_separator(app, argc, argv);
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ExtrasError& extras) {
    const int status = app.exit(extras);
    const auto chosen = app.get_subcommands();
    if (!chosen.empty()) hint_at_options(*chosen.front(), words);
    return status;
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  return 0;
}

// Nobody needs to be told if nobody reads the output any more.
int failed(int error, const char* text) {
  if (error == EPIPE) return 128 + SIGPIPE;
  std::fprintf(stderr, "tutti: %s\n", text);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    take_usual_name(argc, argv);
    const int status = run_command(argc, argv);
    if (std::fflush(stdout) == 0) return status;
    const int error = errno;
    return failed(error, std::strerror(error));
  } catch (const std::system_error& failure) {  // fmt::print cannot write
    return failed(failure.code().value(), failure.what());
  } catch (const std::exception& failure) {  // nobody expected it
    return failed(0, failure.what());
  }
}
