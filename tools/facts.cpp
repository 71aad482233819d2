// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/facts.hpp"

#include <sys/utsname.h>

#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "algorithms/algorithm.hpp"
#include "comm/tuning_file.hpp"
#include "core/topology.hpp"
#include "devices/device.hpp"
#include "env/env.hpp"
#include "kernels/reduce_host.hpp"
#include "select/selector.hpp"
#include "transports/transport.hpp"

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

Json collect_kernels() {
  const auto isas = tutti::kernel_isas();
  return {{"isa", tutti::kernel_isa()},
          {"isas", std::vector<std::string>(isas.begin(), isas.end())}};
}

Json collect_transports() {
  Json json = Json::array();
  for (const tutti::TransportKind* kind : tutti::transport_kinds()) {
    const tutti::Status available = kind->available();
    json.push_back({{"name", kind->name},
                    {"summary", kind->summary},
                    {"available", available.ok()},
                    {"why_not", available.message()}});
  }
  return json;
}

namespace {

// "2026-11-29T14:02:11Z". fmt's own way needs std::locale, which a wheel does not carry.
std::string utc_date() {
  const std::time_t now = std::time(nullptr);
  std::tm day{};
  std::array<char, sizeof "2026-11-29T14:02:11Z"> text{};
  if (gmtime_r(&now, &day) == nullptr) return "";
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &day)};
}

// The known times of a device; the tuning may be null.
Json figures_of(const tutti::Tuning* tuning, std::string_view api,
                const tutti::devices::DeviceFacts& facts) {
  const tutti::TunedDevice* tuned = tuning == nullptr ? nullptr : tuning->device(api, facts.name);
  Json json = {{"origin", tuned == nullptr ? "assumed" : "measured"},
               {"driver", tuned == nullptr ? Json(nullptr) : Json(tuned->driver)}};
  const tutti::DeviceFigures figures = tuned == nullptr ? tutti::DeviceFigures() : tuned->figures;
  for (const tutti::DeviceFigure& figure : tutti::device_figures()) {
    json[std::string(figure.name)] = figures.*figure.value;
  }
  return json;
}

// The tuning that this process would use; the defaults if the environment cannot be read.
const tutti::Result<tutti::FoundTuning>& tuning_here() {
  static const tutti::Result<tutti::FoundTuning> found = []() -> tutti::Result<tutti::FoundTuning> {
    const auto environment = tutti::read_environment(tutti::process_environment());
    if (!environment.ok()) return tutti::FoundTuning();
    return tutti::tuning_to_use(*environment, tutti::process_environment());
  }();
  return found;
}

}  // namespace

Json collect_devices() {
  Json json = Json::array();
  const auto& found = tuning_here();
  const tutti::Tuning* const tuning = found.ok() ? &found->tuning : nullptr;
  for (const tutti::devices::DeviceApi* const api : tutti::devices::device_apis()) {
    const tutti::Status opened = api->open();
    Json devices = Json::array();
    for (const tutti::devices::DeviceFacts& facts : api->devices()) {
      devices.push_back({{"index", facts.index},
                         {"part_of", facts.parent < 0 ? Json(nullptr) : Json(facts.parent)},
                         {"name", facts.name},
                         {"driver", facts.driver},
                         {"memory_bytes", facts.memory_bytes},
                         {"float64", facts.fp64},
                         {"ipc", facts.ipc},
                         {"tells_place", facts.tells_place},
                         {"kernels", facts.kernels},
                         {"figures", figures_of(tuning, api->name, facts)}});
    }
    json.push_back({{"api", api->name},
                    {"available", opened.ok()},
                    {"why_not", opened.message()},
                    {"devices", std::move(devices)}});
  }
  return json;
}

Json collect_algorithms() {
  Json json = Json::array();
  for (const tutti::Algorithm* algorithm : tutti::algorithms()) {
    json.push_back({{"collective", tutti::collective_name(algorithm->collective)},
                    {"name", algorithm->name},
                    {"summary", algorithm->summary},
                    {"rank_order", algorithm->rank_order}});
  }
  return json;
}

Json collect_tuning() {
  Json json = {{"file", nullptr}, {"choices", nullptr}};
  tutti::Machine machine;
  const auto& found = tuning_here();
  if (!found.ok()) {
    json["error"] = found.status().message();
  } else {
    machine = found->tuning.machine;
    if (!found->path.empty()) {
      json["file"] = found->path;
      json["choices"] = found->tuning.choices.size();
    }
  }
  for (const tutti::MachineFigure& figure : tutti::machine_figures()) {
    json["machine"][std::string(figure.name)] = machine.*figure.value;
  }
  json["machine"]["cache_bytes"] = machine.cache_bytes;
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

Json collect_machine() {
  utsname system{};
  uname(&system);
  double load = 0;
  (void)getloadavg(&load, 1);
  Json set = Json::object();
  for (const tutti::VariableReport& v : tutti::report_variables(tutti::process_environment())) {
    if (v.origin == "default" || v.name == "TUTTI_JOB") continue;  // a name that tutti run makes up
    set[v.origin] = v.value;
  }
  return {{"date", utc_date()},
          {"kernel", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
          {"load", load},
          {"cores", collect_cores()},
          {"topology", collect_topology()},
          {"kernels", collect_kernels()},
          {"tuned", !collect_tuning()["file"].is_null()},
          {"variables", std::move(set)}};
}

Json collect_notices() {
  Json json = Json::array();
  for (const tutti::EnvironmentNotice& notice :
       tutti::check_names(tutti::process_environment_names(), tutti::process_environment())) {
    json.push_back({{"severity", tutti::log_level_name(notice.severity)}, {"text", notice.text}});
  }
  // Whether the algorithms asked for exist is for the selector to say.
  const auto environment = tutti::read_environment(tutti::process_environment());
  if (!environment.ok()) return json;
  const auto selector = tutti::Selector::create(*environment, tutti::Machine{});
  if (!selector.ok()) {
    json.push_back({{"severity", "error"}, {"text", selector.status().message()}});
  }
  return json;
}
