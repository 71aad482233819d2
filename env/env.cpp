// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "env/env.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "env/values.hpp"

namespace tutti {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

struct Setting {
  std::string name;  // under which it was found
  std::string text;
};

// The setting of `name`, by itself or by an alias; nullopt if none of them has a value.
std::optional<Setting> find_setting(const std::string& name, const Getter& getter) {
  std::vector<std::string> names = {name};
  for (const VariableAlias& alias : variable_aliases()) {
    if (alias.name == name) names.emplace_back(alias.alias);
  }
  for (std::string& candidate : names) {
    const std::optional<std::string> value = getter(candidate);
    if (!value || trim(*value).empty()) continue;
    return Setting{std::move(candidate), std::string(trim(*value))};
  }
  return std::nullopt;
}

// Reads one variable into `value`, which holds its default.
template <typename T>
VariableReport read_variable(const std::string& name, const typename BoundsOf<T>::Type& bounds,
                             std::string_view help, const Getter& getter, T& value) {
  VariableReport report{.name = name,
                        .value = print_value(value),
                        .default_value = print_value(value),
                        .origin = "default",
                        .expected = expected_value(bounds, value),
                        .help = std::string(help),
                        .error = {}};
  const std::optional<Setting> setting = find_setting(name, getter);
  if (!setting) return report;
  report.origin = setting->name;
  if (parse_value(setting->text, bounds, value)) {
    report.value = print_value(value);
  } else {
    report.value = setting->text;
    report.error = fmt::format("{}={}: expected {}", setting->name, setting->text, report.expected);
  }
  return report;
}

std::vector<VariableReport> read_table(const Getter& getter, Environment& environment) {
  std::vector<VariableReport> reports;
#define TUTTI_VARIABLE(field, name, type, default_value, lowest, highest, scope, help) \
  reports.push_back(read_variable<type>(name, {lowest, highest}, help, getter, environment.field));
#include "env/variables.inc"
#undef TUTTI_VARIABLE
  return reports;
}

}  // namespace

Getter process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

std::vector<std::string> process_variables() {
  std::vector<std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    variables.emplace_back(*entry);
  }
  return variables;
}

std::vector<std::string> process_environment_names() {
  std::vector<std::string> names = process_variables();
  for (std::string& name : names) name.resize(std::min(name.size(), name.find('=')));
  return names;
}

std::string user_cache_folder(const Getter& getter) {
  // A relative one is to be ignored, says the specification.
  std::string folder = getter("XDG_CACHE_HOME").value_or("");
  if (folder.starts_with('/')) return folder + "/tutti";
  folder = getter("HOME").value_or("");
  return folder.starts_with('/') ? folder + "/.cache/tutti" : "";
}

Result<Environment> read_environment(const Getter& getter) {
  Environment environment;
  std::string errors;
  for (const VariableReport& report : read_table(getter, environment)) {
    if (report.error.empty()) continue;
    if (!errors.empty()) errors += "; ";
    errors += report.error;
  }
  if (!errors.empty()) return Status(Code::kInvalidArgument, errors);
  return environment;
}

std::vector<JobSetting> job_settings(const JobVariables& variables) {
  std::vector<JobSetting> settings;
#define TUTTI_IF_kJob(field, name) settings.push_back({name, print_value(variables.field)});
#define TUTTI_IF_kProcess(field, name)
#define TUTTI_VARIABLE(field, name, type, default_value, lowest, highest, scope, help) \
  TUTTI_IF_##scope(field, name)
#include "env/variables.inc"
#undef TUTTI_VARIABLE
#undef TUTTI_IF_kProcess
#undef TUTTI_IF_kJob
  return settings;
}

std::vector<VariableReport> report_variables(const Getter& getter) {
  Environment environment;
  return read_table(getter, environment);
}

}  // namespace tutti
