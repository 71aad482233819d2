// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/man.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "env/env.hpp"
#include "tools/help.hpp"

namespace tutti {

namespace {

// The table, whatever is set where the manual is made.
std::vector<VariableReport> all_variables() {
  return report_variables([](const std::string&) { return std::optional<std::string>(); });
}

constexpr std::string_view kRules[] = {
    "Variables are read once, when a process makes its first communicator.",
    "Names are written in capitals; the words among the values may be written in either case.",
    "An empty value counts as not set.",
    "A value that is not among those expected is an error, which names all variables at fault.",
    "Where a name that begins with CCL_ or TUTTI_ is not listed, a warning names the nearest.",
    "`tutti info --env` prints each variable's value, and whether it is the default.",
};

// In troff a backslash begins a request, as does a period or quote at the start of a line.
std::string troff(std::string_view text) {
  std::string plain =
      replaced(replaced(replaced(std::string(text), "\\", "\\e"), "-", "\\-"), "`", "");
  plain = replaced(replaced(plain, "\n.", "\n\\&."), "\n'", "\n\\&'");
  return plain.starts_with('.') || plain.starts_with('\'') ? "\\&" + plain : plain;
}

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
  if (const std::string usual = default_text(option); !usual.empty()) head += " " + troff(usual);
  return head + "\n";
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

std::string variables_markdown() {
  std::string page =
      "# Variables\n\n"
      "Made by `./dev docs` from `env/variables.inc`, `env/aliases.inc` and `env/accepted.inc`; "
      "edit those.\n\n";
  for (const std::string_view rule : kRules) page += fmt::format("- {}\n", rule);
  page += "\n| variable | default | values | meaning |\n|---|---|---|---|\n";
  const auto cell = [](std::string_view text) { return replaced(std::string(text), "|", "\\|"); };
  for (const VariableReport& variable : all_variables()) {
    const std::string value =
        variable.default_value.empty() ? "" : fmt::format("`{}`", cell(variable.default_value));
    page += fmt::format("| `{}` | {} | {} | {} |\n", variable.name, value, cell(variable.expected),
                        cell(variable.help));
  }
  page += "\n## Other names\n\n";
  for (const VariableAlias& alias : variable_aliases()) {
    page += fmt::format("- `{}` is `{}`, which wins if both are set.\n", alias.alias, alias.name);
  }
  page +=
      "\n## Accepted without effect\n\n"
      "Variables of oneCCL that mean nothing here; log level info mentions those that are set.\n"
      "`*` stands for any text.\n\n"
      "| variable | why |\n|---|---|\n";
  for (const AcceptedVariable& variable : accepted_variables()) {
    page += fmt::format("| `{}` | {} |\n", variable.name, cell(variable.reason));
  }
  return page;
}

std::string variables_man_page() {
  std::string page =
      ".TH TUTTI\\-VARIABLES 7\n"
      ".SH NAME\n"
      "tutti\\-variables \\- environment variables of the Tutti collectives library\n"
      ".SH DESCRIPTION\n";
  for (const std::string_view rule : kRules) page += troff(rule) + "\n.br\n";
  page += ".SH VARIABLES\n";
  for (const VariableReport& variable : all_variables()) {
    page += fmt::format(".TP\n.B {}\n{}\nExpected: {}.", troff(variable.name), troff(variable.help),
                        troff(variable.expected));
    page += variable.default_value.empty()
                ? "\n"
                : fmt::format(" Default: {}.\n", troff(variable.default_value));
  }
  page += ".SH OTHER NAMES\n";
  for (const VariableAlias& alias : variable_aliases()) {
    page += fmt::format(".TP\n.B {}\nThe same as {}, which wins if both are set.\n",
                        troff(alias.alias), troff(alias.name));
  }
  page += ".SH ACCEPTED WITHOUT EFFECT\n";
  for (const AcceptedVariable& variable : accepted_variables()) {
    page += fmt::format(".TP\n.B {}\n{}.\n", troff(variable.name), troff(variable.reason));
  }
  return page + ".SH SEE ALSO\n.BR tutti (1)\n";
}

}  // namespace tutti
