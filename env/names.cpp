// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The names of variables: those that have no effect, second names, and misspelt ones.
#include <algorithm>
#include <array>
#include <vector>

#include "core/edit_distance.hpp"
#include "env/env.hpp"

namespace tutti {
namespace {

constexpr AcceptedVariable kAccepted[] = {
#define TUTTI_ACCEPTED(name, reason) {name, reason},
#include "env/accepted.inc"
#undef TUTTI_ACCEPTED
};

constexpr VariableAlias kAliases[] = {
#define TUTTI_ALIAS(alias, name) {alias, name},
#include "env/aliases.inc"
#undef TUTTI_ALIAS
};

constexpr std::string_view kVariables[] = {
#define TUTTI_VARIABLE(field, name, type, default_value, lowest, highest, scope, help) name,
#include "env/variables.inc"
#undef TUTTI_VARIABLE
};

// The part after CCL_ or TUTTI_; nullopt if the name has neither prefix.
std::optional<std::string_view> without_prefix(std::string_view name) {
  for (const std::string_view prefix : {"CCL_", "TUTTI_"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return std::nullopt;
}

bool matches(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  return name.size() >= pattern.size() - 1 && name.starts_with(pattern.substr(0, star)) &&
         name.ends_with(pattern.substr(star + 1));
}

// Prefixes do not count, so that TUTTI_WORKER_COUNT is next to CCL_WORKER_COUNT. A name that stops
// early or goes on after an underscore (TUTTI_TIMEOUT) counts as one edit.
size_t name_distance(std::string_view given, std::string_view known) {
  const std::string_view shorter = given.size() < known.size() ? given : known;
  const std::string_view longer = given.size() < known.size() ? known : given;
  if (longer.starts_with(shorter) && longer.size() > shorter.size() &&
      longer[shorter.size()] == '_') {
    return 1;
  }
  return edit_distance(given, known);
}

// The known name nearest to `name`, of the first of several; empty if all differ in more than a
// third of it.
std::string_view nearest_name(std::string_view name) {
  const std::string_view given = *without_prefix(name);
  std::string_view nearest;
  size_t best = std::max<size_t>(given.size() / 3, 1) + 1;
  const auto consider = [&](std::string_view known) {
    const auto rest = without_prefix(known);  // nullopt for names of others, such as FI_PROVIDER
    if (!rest || known.find('*') != std::string_view::npos) return;
    const size_t distance = name_distance(given, *rest);
    if (distance >= best) return;
    best = distance;
    nearest = known;
  };
  for (const std::string_view known : kVariables) consider(known);
  for (const VariableAlias& known : kAliases) consider(known.alias);
  for (const AcceptedVariable& known : kAccepted) consider(known.name);
  return nearest;
}

std::optional<EnvironmentNotice> check_alias(const VariableAlias& alias, const Getter& getter) {
  const auto own = getter(std::string(alias.name));
  const auto other = getter(std::string(alias.alias));
  if (!own || own->empty() || !other || other->empty() || *own == *other) return std::nullopt;
  return EnvironmentNotice{
      LogLevel::kWarn, fmt::format("{}={} is ignored: {}={} is set, of which it is another name",
                                   alias.alias, *other, alias.name, *own)};
}

std::optional<EnvironmentNotice> check_name(const std::string& name, const Getter& getter) {
  if (std::ranges::find(kVariables, name) != std::end(kVariables)) return std::nullopt;
  for (const VariableAlias& alias : kAliases) {
    if (alias.alias == name) return check_alias(alias, getter);
  }
  const std::string setting = fmt::format("{}={}", name, getter(name).value_or(""));
  for (const AcceptedVariable& accepted : kAccepted) {
    if (!matches(accepted.name, name)) continue;
    return EnvironmentNotice{LogLevel::kInfo,
                             fmt::format("{} has no effect: {}", setting, accepted.reason)};
  }
  const std::string_view nearest = nearest_name(name);
  return EnvironmentNotice{
      LogLevel::kWarn,
      nearest.empty() ? fmt::format("{} is ignored: there is no such variable", setting)
                      : fmt::format("{} is ignored: there is no such variable; did you mean {}?",
                                    setting, nearest)};
}

}  // namespace

std::span<const AcceptedVariable> accepted_variables() { return kAccepted; }
std::span<const VariableAlias> variable_aliases() { return kAliases; }

std::vector<EnvironmentNotice> check_names(const std::vector<std::string>& names,
                                           const Getter& getter) {
  std::vector<std::string> own;
  for (const std::string& name : names) {
    if (without_prefix(name)) own.push_back(name);
  }
  std::ranges::sort(own);
  std::vector<EnvironmentNotice> notices;
  for (const std::string& name : own) {
    if (auto notice = check_name(name, getter)) notices.push_back(*std::move(notice));
  }
  return notices;
}

}  // namespace tutti
