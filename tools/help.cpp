// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/edit_distance.hpp"

namespace tutti {

namespace {

// CLI11 says "INT:INT in [1 - 4096]": a type and, behind the colon, what checks it.
struct Parts {
  std::string type;
  std::string check;
};

Parts parts_of(const CLI::Option& option) {
  const std::string text = option.get_type_name();
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool takes_values(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string names_of(const CLI::Option& option) {
  if (option.get_positional() && !option.nonpositional()) return option.get_name(true);
  std::string names = option.get_name(false, true);
  // Flags that switch off are "--here{false}".
  return replaced(names, "{false}", "");
}

// The most that is worth saying.
constexpr long kMostSaid = 1 << 20;

}  // namespace

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string value_text(const CLI::Option& option) {
  if (!takes_values(option)) return "";
  const auto [type, check] = parts_of(option);
  if (check.starts_with('{') && check.ends_with('}')) {
    return replaced(check.substr(1, check.size() - 2), ",", "|");
  }
  if (type == "INT" || type == "UINT" || type == "FLOAT") return check == "SIZE" ? "BYTES" : "N";
  if (type == "TEXT" || type.empty()) return check == "FILE" ? check : "NAME";
  return type;
}

std::string bounds_text(const CLI::Option& option) {
  const std::string check = parts_of(option).check;
  if (check == "POSITIVE") return "above 0";
  const size_t open = check.find(" in [");
  const size_t dash = check.find(" - ", open);
  if (open == std::string::npos || dash == std::string::npos) return "";
  const std::string least = check.substr(open + 5, dash - open - 5);
  const std::string most = check.substr(dash + 3, check.size() - dash - 4);
  if (std::strtol(most.c_str(), nullptr, 10) > kMostSaid) return least + " or more";
  return least + " to " + most;
}

std::string default_text(const CLI::Option& option) {
  const std::string& usual = option.get_default_str();
  if (usual.empty() || usual == "[]") return "";
  return usual.starts_with('[') ? usual : "[" + usual + "]";  // of several values
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = Formatter::make_usage(app, std::move(name));
  if (!app->get_prefix_command()) return usage;
  while (usage.ends_with('\n')) usage.pop_back();
  return usage + " PROGRAM [ARGUMENT ...]\n";
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  if (!is_positional && option->get_positional()) return "";  // among the positionals
  return Formatter::make_option(option, is_positional);
}

std::string HelpFormatter::make_option_name(const CLI::Option* option, bool is_positional) const {
  return is_positional ? option->get_name(true) : names_of(*option);
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_positional()) return option->get_expected_max() > 1 ? " ..." : "";
  const std::string value = value_text(*option);
  if (value.empty()) return "";
  if (option->get_expected_max() <= 1) return " " + value;
  return " " + value + (option->get_delimiter() != '\0' ? ",..." : " ...");
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  std::string text = option->get_description();
  if (!takes_values(*option)) return text;
  if (const std::string bounds = bounds_text(*option); !bounds.empty()) text += ", " + bounds;
  if (const std::string usual = default_text(*option); !usual.empty()) text += " " + usual;
  if (option->get_required() && !option->get_positional()) text += " (required)";
  for (const CLI::Option* other : option->get_needs()) text += " (with " + other->get_name() + ")";
  return text;
}

std::string all_options(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_group().empty()) continue;  // hidden
      text += fmt::format("{}\t{}\t{}\t{}\n", command->get_name(),
                          replaced(option->get_name(true, true), "{false}", ""),
                          value_text(*option), option->get_description());
    }
  }
  return text;
}

std::string did_you_mean(const std::string& given, const std::vector<std::string>& known) {
  size_t best = given.size() / 3 + 2;  // one more than may differ
  const std::string* nearest = nullptr;
  for (const std::string& word : known) {
    const size_t distance = edit_distance(given, word);
    if (distance >= best) continue;
    best = distance;
    nearest = &word;
  }
  return nearest == nullptr ? "" : "; did you mean " + *nearest + "?";
}

std::string did_you_mean_option(const std::string& given, const CLI::App& command) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  return did_you_mean(given.substr(0, given.find('=')), known);
}

}  // namespace tutti
