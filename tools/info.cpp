// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti info: what this library is, sees and offers. Everything is first collected as JSON
// (facts.hpp), which --json prints as it is and the text is made from.
#include <fmt/format.h>
#include <tutti/tutti.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "core/affinity.hpp"
#include "core/json_text.hpp"
#include "core/topology.hpp"
#include "tools/facts.hpp"
#include "tools/man.hpp"

namespace {

using Json = nlohmann::ordered_json;

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

std::string other_isas(const Json& kernels) {
  std::string others;
  for (const Json& isa : kernels["isas"]) {
    if (isa == kernels["isa"]) continue;
    others += (others.empty() ? "" : ", ") + text_of(isa);
  }
  return others.empty() ? "no other" : others;
}

void print_machine(const Json& topology, const Json& cores, const Json& kernels) {
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
  fmt::print("  reductions: {}; this build and processor also have {}\n", text_of(kernels["isa"]),
             other_isas(kernels));
  if (!topology.contains("drawing")) return;
  fmt::print("\n{}  in [ ]: the hardware threads of one core\n",
             indented(text_of(topology["drawing"])));
}

void print_transports(const Json& transports) {
  fmt::print("\nTransports\n");
  for (const Json& transport : transports) {
    fmt::print("  {:<12} {}\n", text_of(transport["name"]), text_of(transport["summary"]));
    if (transport["available"].get<bool>()) continue;
    fmt::print("  {:<12} not available: {}\n", "", text_of(transport["why_not"]));
  }
}

std::string kernels_text(const std::string& kernels) {
  return kernels.empty() ? "no kernels" : "kernels from " + kernels;
}

std::string figures_text(const Json& device) {
  const Json& figures = device["figures"];
  std::string text = text_of(figures["origin"]) + " figures:";
  const auto us = [&](const char* name) { return figures[name].get<double>() * 1e6; };
  const auto rate = [&](const char* name) { return 1e-9 / figures[name].get<double>(); };
  text += fmt::format(
      " launch {:.2f} us, end seen {:.2f} us; GB/s: copy {:.3g}, reduce {:.3g}, to "
      "or from the host {:.3g}",
      us("launch_s"), us("tick_s"), rate("copy_s"), rate("reduce_s"), rate("host_copy_s"));
  if (figures["driver"].is_string() && figures["driver"] != device["driver"]) {
    text += fmt::format("; measured with driver {}", text_of(figures["driver"]));
  }
  return text;
}

void print_devices(const Json& apis) {
  fmt::print("\nDevices (docs/devices.md)\n");
  for (const Json& api : apis) {
    const std::string name = text_of(api["api"]);
    if (!api["available"].get<bool>()) {
      fmt::print("  {:<12} not available: {}\n", name, text_of(api["why_not"]));
    }
    for (const Json& device : api["devices"]) {
      const std::string part =
          device["part_of"].is_null() ? "" : fmt::format(", part of {}", device["part_of"].dump());
      fmt::print("  {:<12} {}: {}{}; {}, {}, {}, {}\n", name, device["index"].get<int>(),
                 text_of(device["name"]), part,
                 tutti::format_size(device["memory_bytes"].get<uint64_t>()),
                 kernels_text(text_of(device["kernels"])),
                 device["float64"].get<bool>() ? "float64" : "no float64",
                 device["ipc"].get<bool>() ? "IPC" : "no IPC");
      fmt::print("  {:<12} driver {}\n", "", text_of(device["driver"]));
      fmt::print("  {:<12} {}\n", "", figures_text(device));
    }
  }
}

void print_algorithms(const Json& algorithms) {
  fmt::print("\nAlgorithms (*: reduces in rank order, as TUTTI_STRICT=1 demands)\n");
  for (const Json& algorithm : algorithms) {
    fmt::print("  {:<15} {:<20} {} {}\n", text_of(algorithm["collective"]),
               text_of(algorithm["name"]), algorithm["rank_order"].get<bool>() ? "*" : " ",
               text_of(algorithm["summary"]));
  }
}

void print_tuning(const Json& tuning) {
  fmt::print("\nCost model (docs/tuning-file.md; seconds, and seconds per byte)\n");
  if (tuning.contains("error")) {
    fmt::print("  error: {}\n", text_of(tuning["error"]));
  } else if (tuning["file"].is_null()) {
    fmt::print("  no tuning file: tutti tune makes one\n");
  } else {
    fmt::print("  tuning file {}, with {}\n", text_of(tuning["file"]),
               count_text(tuning["choices"], "measured choice"));
  }
  int column = 0;
  for (const auto& [name, value] : tuning["machine"].items()) {
    fmt::print("  {:<14} {:<10.4g}{}", name, value.get<double>(), ++column % 3 == 0 ? "\n" : "");
  }
  if (column % 3 != 0) fmt::print("\n");
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

bool has_errors(const Json& info) {
  for (const Json& variable : info["variables"]) {
    if (!variable["error"].is_null()) return true;
  }
  for (const Json& notice : info["notices"]) {
    if (notice["severity"] == "error") return true;
  }
  return info.contains("tuning") && info["tuning"].contains("error");
}

void run_info(const Options& options) {
  if (options.markdown || options.man) {
    fmt::print("{}", options.markdown ? tutti::variables_markdown() : tutti::variables_man_page());
    return;
  }
  Json info = {{"version", tutti_version_string()}};
  if (!options.env) {
    info["cores"] = collect_cores();
    info["topology"] = collect_topology();
    info["kernels"] = collect_kernels();
    info["transports"] = collect_transports();
    info["devices"] = collect_devices();
    info["algorithms"] = collect_algorithms();
    info["tuning"] = collect_tuning();
  }
  info["variables"] = collect_variables();
  info["notices"] = collect_notices();
  if (options.json) {
    fmt::print("{}\n", tutti::json_text(info, 2));
  } else if (options.env) {
    print_variables(info["variables"], info["notices"]);
  } else {
    fmt::print("tutti {}\n", tutti_version_string());
    print_machine(info["topology"], info["cores"], info["kernels"]);
    print_transports(info["transports"]);
    print_devices(info["devices"]);
    print_algorithms(info["algorithms"]);
    print_tuning(info["tuning"]);
    print_variables_briefly(info["variables"], info["notices"]);
  }
  if (has_errors(info)) throw CLI::RuntimeError(1);
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
  info->footer(
      "Ends with status 1 if a variable has a bad value, or names a tuning file that cannot be "
      "used.");
  info->callback([options] { run_info(*options); });
}
