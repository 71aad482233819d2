// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/man.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/help.hpp"
#include "tools/manual.hpp"

namespace tutti {

namespace {

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// "\-f, \-\-min BYTES [4]"
std::string option_head(const CLI::Option& option) {
  std::string head = ".B " + troff(option.get_name(option.get_positional(), true));
  if (option.get_items_expected_max() > 0 && !option.get_positional()) {
    head += " " + troff(value_text(option));
  }
  const std::string usual = option.get_default_str();
  if (usual.empty()) return head + "\n";
  const bool bracketed = usual.starts_with('[');  // of several values
  return head + " " + troff(bracketed ? usual : "[" + usual + "]") + "\n";
}

std::string described(const CLI::Option& option) {
  const std::string bounds = bounds_text(option);
  return option.get_description() + (bounds.empty() ? "" : ", " + bounds);
}

std::string options_of(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    text += fmt::format(".TP\n{}{}\n", option_head(*option), troff(described(*option)));
  }
  return text.empty() ? "" : ".SH OPTIONS\n" + text;
}

std::string arguments_of(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) text += " " + troff(option->get_name(true));
  }
  return text + (app.get_prefix_command() ? " PROGRAM [ARGUMENT ...]" : "");
}

std::string commands_of(const CLI::App& app) {
  std::string text;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (each->get_group().empty()) continue;
    text += fmt::format(".TP\n.BR tutti\\-{} (1)\n{}\n", troff(each->get_name()),
                        troff(each->get_description()));
  }
  return text.empty() ? "" : ".SH COMMANDS\n" + text;
}

}  // namespace

std::string man_page(const CLI::App& app, const std::string& subcommand) {
  const bool whole = subcommand.empty();
  const CLI::App& page = whole ? app : *app.get_subcommand(subcommand);
  const std::string title = whole ? "tutti" : "tutti-" + subcommand;
  const std::string said = whole ? "tutti" : "tutti " + subcommand;
  std::string text =
      fmt::format(".TH {} 1\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n", troff(upper(title)),
                  troff(title), troff(page.get_description()), troff(said));
  text += fmt::format("[options]{}\n", whole ? " COMMAND ..." : arguments_of(page));
  text += commands_of(page) + options_of(page);
  if (!page.get_footer().empty()) {
    text += ".SH NOTES\n" + troff(page.get_footer()) + "\n";
  }
  return text + ".SH SEE ALSO\n" + (whole ? "" : ".BR tutti (1),\n") +
         ".BR tutti\\-variables (7)\n";
}

}  // namespace tutti
