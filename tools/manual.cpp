// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/manual.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <vector>

#include "env/env.hpp"

namespace {

using tutti::VariableReport;

// The table, whatever is set where the manual is made.
std::vector<VariableReport> all_variables() {
  return tutti::report_variables([](const std::string&) { return std::optional<std::string>(); });
}

constexpr std::string_view kRules[] = {
    "Variables are read once, when a process makes its first communicator.",
    "Names are written in capitals; the words among the values may be written in either case.",
    "An empty value counts as not set.",
    "A value that is not among those expected is an error, which names all variables at fault.",
    "Where a name that begins with CCL_ or TUTTI_ is not listed, a warning names the nearest.",
    "`tutti info --env` prints each variable's value, and whether it is the default.",
};

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (;;) {
    const size_t at = text.find(from);
    result += text.substr(0, at);
    if (at == std::string_view::npos) return result;
    result += to;
    text.remove_prefix(at + from.size());
  }
}

}  // namespace

std::string troff(std::string_view text) {
  std::string plain = replace_all(replace_all(replace_all(text, "\\", "\\e"), "-", "\\-"), "`", "");
  plain = replace_all(replace_all(plain, "\n.", "\n\\&."), "\n'", "\n\\&'");
  return plain.starts_with('.') || plain.starts_with('\'') ? "\\&" + plain : plain;
}

std::string variables_markdown() {
  std::string page =
      "# Variables\n\n"
      "Made by `./dev docs` from `env/variables.inc`, `env/aliases.inc` and `env/accepted.inc`; "
      "edit those.\n\n";
  for (const std::string_view rule : kRules) page += fmt::format("- {}\n", rule);
  page += "\n| variable | default | values | meaning |\n|---|---|---|---|\n";
  const auto cell = [](std::string_view text) { return replace_all(text, "|", "\\|"); };
  for (const VariableReport& variable : all_variables()) {
    const std::string value =
        variable.default_value.empty() ? "" : fmt::format("`{}`", cell(variable.default_value));
    page += fmt::format("| `{}` | {} | {} | {} |\n", variable.name, value, cell(variable.expected),
                        cell(variable.help));
  }
  page += "\n## Other names\n\n";
  for (const tutti::VariableAlias& alias : tutti::variable_aliases()) {
    page += fmt::format("- `{}` is `{}`, which wins if both are set.\n", alias.alias, alias.name);
  }
  page +=
      "\n## Accepted without effect\n\n"
      "Variables of oneCCL that mean nothing here; log level info mentions those that are set.\n"
      "`*` stands for any text.\n\n"
      "| variable | why |\n|---|---|\n";
  for (const tutti::AcceptedVariable& variable : tutti::accepted_variables()) {
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
  for (const tutti::VariableAlias& alias : tutti::variable_aliases()) {
    page += fmt::format(".TP\n.B {}\nThe same as {}, which wins if both are set.\n",
                        troff(alias.alias), troff(alias.name));
  }
  page += ".SH ACCEPTED WITHOUT EFFECT\n";
  for (const tutti::AcceptedVariable& variable : tutti::accepted_variables()) {
    page += fmt::format(".TP\n.B {}\n{}.\n", troff(variable.name), troff(variable.reason));
  }
  return page + ".SH SEE ALSO\n.BR tutti (1)\n";
}
