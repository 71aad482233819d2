// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "select/rules.hpp"

#include <optional>

#include "core/size_text.hpp"

namespace tutti {
namespace {

struct OneCclName {
  Collective collective;
  std::string_view theirs;
  std::string_view ours;
  std::string_view why;
};
constexpr OneCclName kOneCclNames[] = {
#define TUTTI_ONECCL_NAME(collective, theirs, ours, why) \
  {Collective::k##collective, theirs, ours, why},
#include "select/names.inc"
#undef TUTTI_ONECCL_NAME
};

constexpr std::string_view kAutomatic = "auto";

// "auto, inline, one_shot, ..."
std::string valid_names(Collective collective) {
  std::string names(kAutomatic);
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->collective != collective) continue;
    names += ", ";
    names += algorithm->name;
  }
  return names;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Takes what stands before the first `separator` off the text.
std::string_view take_until(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view head = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return trimmed(head);
}

class Parser {
 public:
  Parser(Collective collective, std::string_view variable, std::string_view text)
      : collective_(collective), variable_(variable), text_(text) {}

  Result<Rules> parse() {
    std::string_view rest = text_;
    while (!trimmed(rest).empty()) {
      TUTTI_RETURN_IF_ERROR(parse_rule(take_until(rest, ';')));
    }
    return std::move(rules_);
  }

 private:
  Status parse_rule(std::string_view text) {
    if (text.empty()) return {};
    Rule rule;
    std::string_view sizes = text;
    TUTTI_RETURN_IF_ERROR(parse_name(take_until(sizes, ':'), rule));
    if (text.find(':') != std::string_view::npos) {
      TUTTI_RETURN_IF_ERROR(parse_sizes(trimmed(sizes), rule));
    }
    rules_.rules.push_back(rule);
    return {};
  }

  Status parse_name(std::string_view given, Rule& rule) {
    const std::string name = lower_case(given);
    if (name == kAutomatic) return {};
    rule.algorithm = find_algorithm(collective_, name);
    if (rule.algorithm != nullptr) return {};
    for (const OneCclName& known : kOneCclNames) {
      if (known.collective != collective_ || known.theirs != name) continue;
      if (!known.ours.empty()) rule.algorithm = find_algorithm(collective_, known.ours);
      rules_.notes.push_back(fmt::format("{}: {} means {} here: {}", variable_, name,
                                         known.ours.empty() ? "the automatic choice" : known.ours,
                                         known.why));
      return {};
    }
    return Status::format(Code::kInvalidArgument,
                          "{}={}: there is no {} algorithm \"{}\"; expected one of {}", variable_,
                          text_, collective_name(collective_), given, valid_names(collective_));
  }

  Status parse_sizes(std::string_view given, Rule& rule) {
    std::string_view rest = given;
    const std::optional<uint64_t> lowest = parse_size(take_until(rest, '-'));
    const std::optional<uint64_t> highest = parse_size(trimmed(rest));
    if (lowest && highest && *lowest <= *highest) {
      rule.lowest = *lowest;
      rule.highest = *highest;
      return {};
    }
    return Status::format(
        Code::kInvalidArgument,
        "{}={}: \"{}\" is not a range of sizes; expected LOWEST-HIGHEST in bytes, "
        "both included, e.g. 0-8191 or 8192-max",
        variable_, text_, given);
  }

  Collective collective_;
  std::string_view variable_;
  std::string_view text_;
  Rules rules_;
};

}  // namespace

Result<Rules> parse_rules(Collective collective, std::string_view variable, std::string_view text) {
  return Parser(collective, variable, text).parse();
}

}  // namespace tutti
