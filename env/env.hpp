// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The environment, read once: every variable of env/variables.inc as a field of an immutable
// snapshot that is passed down. getenv() occurs in env.cpp alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adapt/distance.hpp"
#include "core/affinity.hpp"
#include "core/cache_domain.hpp"
#include "core/log.hpp"
#include "core/status.hpp"
#include "env/job_variables.hpp"

namespace tutti {

// The types a variable can have, besides those of env/job_variables.hpp, LogLevel, StoreTarget,
// CoreList and CacheDomainChoice.
struct Secret {  // read like a text, shown to nobody
  std::string text;
};
enum class TimeLimit : int64_t { kNone = -1 };  // milliseconds, from 1 to INT32_MAX; -1: none
enum class Launcher : uint8_t { kAuto, kHydra, kTorchrun, kPmix, kNone };
enum class KvsMode : uint8_t { kPmi, kMpi };
enum class Mnic : uint8_t { kNone, kLocal, kGlobal };
enum class TraceLevel : uint8_t { kCalls, kSteps };

// Besides those of the job, which every rank has alike, each process's own: scope kProcess.
struct Environment : JobVariables {
#define TUTTI_IF_kJob(type, field, default_value)
#define TUTTI_IF_kProcess(type, field, default_value) type field = default_value;
#define TUTTI_VARIABLE(field, name, type, default_value, lowest, highest, scope, help) \
  TUTTI_IF_##scope(type, field, default_value)
#include "env/variables.inc"
#undef TUTTI_VARIABLE
#undef TUTTI_IF_kProcess
#undef TUTTI_IF_kJob
};

// Reads one variable: nullopt if it is not set. Tests bring their own.
using Getter = std::function<std::optional<std::string>(const std::string& name)>;
Getter process_environment();
std::vector<std::string> process_environment_names();
// Where this user's caches are: $XDG_CACHE_HOME/tutti, or below ~/.cache; empty if the environment
// has neither.
std::string user_cache_folder(const Getter& getter);
// All of it, for a program that this one starts: "NAME=value".
std::vector<std::string> process_variables();

// The snapshot, or an error naming each bad variable, its value and what was expected. An empty
// value counts as not set. A variable may also be set under an alias (env/aliases.inc); its own
// name wins.
Result<Environment> read_environment(const Getter& getter);

// The values as they could be given; in the order of the table, which is the same in every process.
struct JobSetting {
  std::string_view name;
  std::string value;
};
std::vector<JobSetting> job_settings(const JobVariables& variables);

// Something to tell the user about the variables that are set; for the log.
struct EnvironmentNotice {
  LogLevel severity;
  std::string text;
};
// Looks at those of `names` (all names in the environment) that begin with CCL_ or TUTTI_. It warns
// of one that is in no table, with the nearest name if one is near. It also warns of an alias that
// loses against its variable. kInfo is for one that is accepted without effect (env/accepted.inc).
std::vector<EnvironmentNotice> check_names(const std::vector<std::string>& names,
                                           const Getter& getter);

// A variable of oneCCL that changes nothing here. One * in its name stands for any text.
struct AcceptedVariable {
  std::string_view name;
  std::string_view reason;
};
std::span<const AcceptedVariable> accepted_variables();

struct VariableAlias {
  std::string_view alias;
  std::string_view name;
};
std::span<const VariableAlias> variable_aliases();

// One line of `tutti info --env` and of the manual.
struct VariableReport {
  std::string name;
  std::string value;  // in effect; as given if it is bad
  std::string default_value;
  std::string origin;    // "default", or the name that set it: the variable's own or an alias
  std::string expected;  // "a whole number from 1 to 64"
  std::string help;
  std::string error;  // why the value is bad; empty if it is good
};
// Every variable in the order of the table.
std::vector<VariableReport> report_variables(const Getter& getter);

}  // namespace tutti
