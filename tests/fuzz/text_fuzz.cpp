// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Texts that people and other programs write: the environment, what process managers say, and the
// maps of other processes.
#include <map>
#include <string>

#include "bootstrap/couriers/pmi_wire.hpp"
#include "core/size_text.hpp"
#include "env/env.hpp"
#include "fuzz/fuzz.hpp"
#include "inspect/processes.hpp"

namespace tutti {
namespace {

using tutti_test::fuzz::demand;
using tutti_test::fuzz::Input;
using tutti_test::fuzz::text_of;

using Variables = std::map<std::string, std::string>;

Getter getter_of(const Variables& variables) {
  return [&variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

// Lines of NAME=VALUE. What is read is what was given, in the words of job_settings().
FUZZ_TARGET(variables) {
  Variables variables;
  std::vector<std::string> names;
  for (std::string_view text = text_of(input.rest()); !text.empty();) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    names.emplace_back(line.substr(0, equals));
    variables[names.back()] = line.substr(equals + 1);
  }
  (void)check_names(names, getter_of(variables));
  bool good = true;
  for (const VariableReport& one : report_variables(getter_of(variables))) {
    good = good && one.error.empty();
  }
  const auto read = read_environment(getter_of(variables));
  demand(read.ok() == good, "the report names an error where reading finds one");
  if (!read.ok()) return;
  Variables again;
  for (const JobSetting& one : job_settings(*read)) again[std::string(one.name)] = one.value;
  const auto same = read_environment(getter_of(again));
  demand(same.ok(), "what was read can be given");
  const auto settings = job_settings(*same);
  for (const JobSetting& one : settings) {
    demand(again.at(std::string(one.name)) == one.value, "what is given again is the same");
  }
}

FUZZ_TARGET(pmi) {
  for (const auto& [name, value] : couriers::read_fields(text_of(input.rest()))) {
    demand(name.find('=') == std::string::npos && value.find(' ') == std::string::npos,
           "a field is a name and a word");
  }
}

FUZZ_TARGET(maps) {
  inspect::FileKey file{};
  inspect::MappedRange range{};
  if (!inspect::take_mapping(std::string(text_of(input.rest())), file, range)) return;
  demand(range.address + range.bytes >= range.address, "a mapping has an end");
}

}  // namespace
}  // namespace tutti
