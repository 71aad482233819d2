// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti info: what this library is, sees and offers. Everything is first collected as JSON, which
// --json prints as it is and the text is made from.
#include <fmt/format.h>
#include <tutti/tutti.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/affinity.hpp"
#include "core/topology.hpp"
#include "env/env.hpp"
#include "tools/manual.hpp"

namespace {

using Json = nlohmann::ordered_json;

Json collect_cores() {
  const std::optional<double> quota = tutti::cpu_quota();
  return {{"usable", tutti::usable_cores()},
          {"online", tutti::online_cores()},
          {"quota", quota ? Json(*quota) : Json(nullptr)}};
}

Json collect_topology() {
  const tutti::CacheSizes caches = tutti::cache_sizes();
  Json json = {{"l2_bytes", caches.second_level}, {"last_level_bytes", caches.last_level}};
  const std::vector<int> usable = tutti::usable_cores();
  const auto topology = tutti::load_topology(usable);
  if (!topology.ok()) {
    json["error"] = topology.status().message();
    return json;
  }
  json["processor"] = topology->processor;
  json["packages"] = topology->packages;
  json["numa_nodes"] = topology->numa_nodes;
  json["physical_cores"] = topology->physical_cores;
  json["hardware_threads"] = topology->hardware_threads;
  json["memory_bytes"] = topology->memory_bytes;
  json["drawing"] = topology->drawing;
  return json;
}

Json collect_variables() {
  Json json = Json::array();
  for (const tutti::VariableReport& v : tutti::report_variables(tutti::process_environment())) {
    json.push_back({{"name", v.name},
                    {"value", v.value},
                    {"default", v.default_value},
                    {"origin", v.origin},
                    {"expected", v.expected},
                    {"help", v.help},
                    {"error", v.error.empty() ? Json(nullptr) : Json(v.error)}});
  }
  return json;
}

Json collect_notices() {
  Json json = Json::array();
  for (const tutti::EnvironmentNotice& notice :
       tutti::check_names(tutti::process_environment_names(), tutti::process_environment())) {
    json.push_back({{"severity", tutti::log_level_name(notice.severity)}, {"text", notice.text}});
  }
  return json;
}

std::string text_of(const Json& value) { return value.get<std::string>(); }

std::string count_text(const Json& count, std::string_view noun) {
  return fmt::format("{} {}{}", count.get<int>(), noun, count.get<int>() == 1 ? "" : "s");
}

std::string indented(const std::string& lines) {
  std::string result = "  ";
  for (size_t i = 0; i < lines.size(); ++i) {
    result.push_back(lines[i]);
    if (lines[i] == '\n' && i + 1 < lines.size()) result += "  ";
  }
  return result;
}

void print_machine(const Json& topology, const Json& cores) {
  fmt::print("\nMachine\n");
  if (topology.contains("error")) {
    fmt::print("  {}\n", text_of(topology["error"]));
  } else {
    const std::string processor = text_of(topology["processor"]);
    fmt::print("  {}: {}, {}, {}, {}\n", processor.empty() ? "unknown processor" : processor,
               count_text(topology["packages"], "package"),
               count_text(topology["numa_nodes"], "NUMA node"),
               count_text(topology["physical_cores"], "core"),
               count_text(topology["hardware_threads"], "hardware thread"));
  }
  fmt::print("  caches: L2 {} per core, last level {}\n",
             tutti::format_size(topology["l2_bytes"].get<uint64_t>()),
             tutti::format_size(topology["last_level_bytes"].get<uint64_t>()));
  fmt::print("  this process may use cores {} of {}; {}\n",
             tutti::format_cores(cores["usable"].get<std::vector<int>>()),
             tutti::format_cores(cores["online"].get<std::vector<int>>()),
             cores["quota"].is_null()
                 ? "no CPU quota"
                 : fmt::format("its CPU quota is {:.2f} cores", cores["quota"].get<double>()));
  if (!topology.contains("drawing")) return;
  fmt::print("\n{}  in [ ]: the hardware threads of one core\n",
             indented(text_of(topology["drawing"])));
}

void print_notices(const Json& notices) {
  for (const Json& notice : notices) {
    fmt::print("  {}: {}\n", text_of(notice["severity"]), text_of(notice["text"]));
  }
}

std::string origin_text(const Json& variable) {
  const std::string origin = text_of(variable["origin"]);
  if (origin == "default") return origin;
  return origin == text_of(variable["name"]) ? "environment" : "environment, as " + origin;
}

void print_variables_briefly(const Json& variables, const Json& notices) {
  fmt::print("\nVariables (tutti info --env explains them)\n");
  for (const Json& variable : variables) {
    fmt::print("  {:<24} {:<12} {}\n", text_of(variable["name"]), text_of(variable["value"]),
               origin_text(variable));
    if (!variable["error"].is_null()) fmt::print("    error: {}\n", text_of(variable["error"]));
  }
  print_notices(notices);
}

void print_variables(const Json& variables, const Json& notices) {
  for (const Json& variable : variables) {
    fmt::print("{}={}  ({})\n", text_of(variable["name"]), text_of(variable["value"]),
               origin_text(variable));
    if (!variable["error"].is_null()) fmt::print("    error: {}\n", text_of(variable["error"]));
    fmt::print("    {}\n    default: {}; expected: {}\n", text_of(variable["help"]),
               text_of(variable["default"]).empty() ? "empty" : text_of(variable["default"]),
               text_of(variable["expected"]));
  }
  if (!notices.empty()) fmt::print("\n");
  print_notices(notices);
}

struct Options {
  bool env = false;
  bool json = false;
  bool markdown = false;
  bool man = false;
};

void run_info(const Options& options) {
  if (options.markdown || options.man) {
    fmt::print("{}", options.markdown ? variables_markdown() : variables_man_page());
    return;
  }
  Json info = {{"version", tutti_version_string()}};
  if (!options.env) {
    info["cores"] = collect_cores();
    info["topology"] = collect_topology();
  }
  info["variables"] = collect_variables();
  info["notices"] = collect_notices();
  if (options.json) {
    fmt::print("{}\n", info.dump(2));
  } else if (options.env) {
    print_variables(info["variables"], info["notices"]);
  } else {
    fmt::print("tutti {}\n", tutti_version_string());
    print_machine(info["topology"], info["cores"]);
    print_variables_briefly(info["variables"], info["notices"]);
  }
  for (const Json& variable : info["variables"]) {
    if (!variable["error"].is_null()) throw CLI::RuntimeError(1);
  }
}

}  // namespace

void add_info(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* info =
      app.add_subcommand("info", "Show version, machine, transports, algorithms and variables");
  info->add_flag("--env", options->env, "Only the variables: value, origin, default, meaning");
  info->add_flag("--json", options->json, "As JSON");
  info->add_flag("--markdown", options->markdown, "")->group("");  // for ./dev docs
  info->add_flag("--man", options->man, "")->group("");            // for the installation
  info->footer("Ends with status 1 if a variable has a bad value.");
  info->callback([options] { run_info(*options); });
}
