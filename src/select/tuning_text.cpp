// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Tunings as JSON (docs/tuning-file.md).
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "core/json_text.hpp"
#include "select/tuning.hpp"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kFormat = 1;
constexpr uint64_t kMostNumber = 1 << 20;

// Takes a document apart, and remembers where it is for the text of an error.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  Result<Tuning> read(const Json& json) {
    TUTTI_RETURN_IF_ERROR(
        only(json, "", {"format", "key", "machine", "network", "devices", "choices"}));
    uint64_t format = 0;
    TUTTI_RETURN_IF_ERROR(number(json, "", "format", kFormat, kFormat, format));
    TUTTI_RETURN_IF_ERROR(read_key(json));
    if (json.contains("machine")) TUTTI_RETURN_IF_ERROR(read_machine(json["machine"]));
    if (json.contains("network")) TUTTI_RETURN_IF_ERROR(read_network(json["network"]));
    if (json.contains("devices")) TUTTI_RETURN_IF_ERROR(read_devices(json["devices"]));
    if (json.contains("choices")) TUTTI_RETURN_IF_ERROR(read_choices(json["choices"]));
    return std::move(tuning_);
  }

 private:
  Status wrong(const std::string& field, const std::string& expected, const Json* found) const {
    // Strings of a file may be of any length and hold any bytes.
    std::string text = "nothing";
    if (found != nullptr) text = found->dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > 80) text = text.substr(0, 80) + "...";
    return Status::format(Code::kInvalidArgument, "tuning file {}: {} is {}, expected {}", path_,
                          field.empty() ? "the document" : field, text, expected);
  }

  // An object with no other fields than these.
  Status only(const Json& json, const std::string& where,
              const std::vector<std::string_view>& fields) const {
    if (!json.is_object()) return wrong(where, "an object", &json);
    for (const auto& [name, value] : json.items()) {
      if (std::find(fields.begin(), fields.end(), name) != fields.end()) continue;
      std::string known;
      for (const std::string_view field : fields)
        known.append(known.empty() ? "" : ", ").append(field);
      return wrong(where, "no fields but " + known, &json);
    }
    return {};
  }

  static const Json* find(const Json& object, const std::string& field) {
    const auto found = object.find(field);
    return found == object.end() ? nullptr : &*found;
  }

  static std::string place(const std::string& where, const std::string& field) {
    return where.empty() ? field : where + "." + field;
  }

  template <typename Number>
  Status number(const Json& object, const std::string& where, const std::string& field,
                uint64_t lowest, uint64_t highest, Number& value) const {
    const Json* found = find(object, field);
    if (found == nullptr || !found->is_number_unsigned() || found->get<uint64_t>() < lowest ||
        found->get<uint64_t>() > highest) {
      return wrong(place(where, field),
                   lowest == highest ? fmt::format("{}", lowest)
                                     : fmt::format("a whole number from {} to {}", lowest, highest),
                   found);
    }
    value = static_cast<Number>(found->get<uint64_t>());
    return {};
  }

  Status string(const Json& object, const std::string& where, const std::string& field,
                std::string& value) const {
    const Json* found = find(object, field);
    if (found == nullptr || !found->is_string())
      return wrong(place(where, field), "a string", found);
    value = found->get<std::string>();
    return {};
  }

  // Infinities and NaN are no JSON.
  Status seconds(const Json& object, const std::string& where, const std::string& field,
                 double& value) const {
    const Json* found = find(object, field);
    if (found == nullptr || !found->is_number() || !(found->get<double>() > 0) ||
        found->get<double>() > 1) {
      return wrong(place(where, field), "seconds, more than 0 and at most 1", found);
    }
    value = found->get<double>();
    return {};
  }

  Status read_key(const Json& json) {
    const Json* key = find(json, "key");
    if (key == nullptr) return wrong("key", "an object", key);
    TUTTI_RETURN_IF_ERROR(
        only(*key, "key", {"processor", "cores", "l2_bytes", "numa_nodes", "version"}));
    TUTTI_RETURN_IF_ERROR(string(*key, "key", "processor", tuning_.key.processor));
    TUTTI_RETURN_IF_ERROR(number(*key, "key", "cores", 1, kMostNumber, tuning_.key.cores));
    TUTTI_RETURN_IF_ERROR(number(*key, "key", "l2_bytes", 0, UINT64_MAX, tuning_.key.l2_bytes));
    TUTTI_RETURN_IF_ERROR(
        number(*key, "key", "numa_nodes", 1, kMostNumber, tuning_.key.numa_nodes));
    return string(*key, "key", "version", tuning_.key.version);
  }

  Status read_machine(const Json& json) {
    if (!json.is_object()) return wrong("machine", "an object", &json);
    for (const auto& [name, value] : json.items()) {
      if (name == "cache_bytes") {
        TUTTI_RETURN_IF_ERROR(
            number(json, "machine", name, 1, UINT64_MAX, tuning_.machine.cache_bytes));
        continue;
      }
      const auto figure = std::ranges::find(machine_figures(), name, &MachineFigure::name);
      if (figure == machine_figures().end()) {
        return wrong("machine", "no figures but those of docs/tuning-file.md", &json);
      }
      TUTTI_RETURN_IF_ERROR(seconds(json, "machine", name, tuning_.machine.*figure->value));
    }
    return {};
  }

  Status read_network(const Json& json) {
    TUTTI_RETURN_IF_ERROR(only(json, "network", {"message_s", "line_byte_s"}));
    NetworkFigures& network = tuning_.network.emplace();
    TUTTI_RETURN_IF_ERROR(seconds(json, "network", "message_s", network.message_s));
    return seconds(json, "network", "line_byte_s", network.line_byte_s);
  }

  Status read_devices(const Json& json) {
    if (!json.is_array()) return wrong("devices", "an array", &json);
    for (size_t i = 0; i < json.size(); ++i) {
      TUTTI_RETURN_IF_ERROR(read_device(json[i], fmt::format("devices[{}]", i)));
    }
    return {};
  }

  Status read_device(const Json& json, const std::string& where) {
    std::vector<std::string_view> fields = {"api", "name", "driver", "ipc"};
    for (const DeviceFigure& figure : device_figures()) fields.push_back(figure.name);
    TUTTI_RETURN_IF_ERROR(only(json, where, fields));
    TunedDevice device;
    TUTTI_RETURN_IF_ERROR(string(json, where, "api", device.api));
    TUTTI_RETURN_IF_ERROR(string(json, where, "name", device.name));
    TUTTI_RETURN_IF_ERROR(string(json, where, "driver", device.driver));
    const Json* ipc = find(json, "ipc");
    if (ipc == nullptr || !ipc->is_boolean()) {
      return wrong(place(where, "ipc"), "true or false", ipc);
    }
    device.ipc = ipc->get<bool>();
    for (const DeviceFigure& figure : device_figures()) {
      TUTTI_RETURN_IF_ERROR(
          seconds(json, where, std::string(figure.name), device.figures.*figure.value));
    }
    if (tuning_.device(device.api, device.name) != nullptr) {
      return wrong(where, "no second entry of this API and name", &json);
    }
    tuning_.devices.push_back(std::move(device));
    return {};
  }

  Status read_choices(const Json& json) {
    if (!json.is_object()) return wrong("choices", "an object", &json);
    for (const auto& [name, list] : json.items()) {
      const std::string where = "choices." + name;
      const auto collective = collective_of(name);
      if (!collective) return wrong("choices", "no fields but names of collectives", &json);
      if (!list.is_array()) return wrong(where, "an array", &list);
      for (size_t i = 0; i < list.size(); ++i) {
        TUTTI_RETURN_IF_ERROR(read_choice(list[i], fmt::format("{}[{}]", where, i), *collective));
      }
    }
    return {};
  }

  static std::optional<Collective> collective_of(const std::string& name) {
    for (int i = 0; i < kCollectives; ++i) {
      if (collective_name(static_cast<Collective>(i)) == name) return static_cast<Collective>(i);
    }
    return std::nullopt;
  }

  Status read_choice(const Json& json, const std::string& where, Collective collective) {
    TUTTI_RETURN_IF_ERROR(only(json, where, {"ranks", "cores", "lowest", "highest", "algorithm"}));
    TunedChoice choice;
    choice.collective = collective;
    TUTTI_RETURN_IF_ERROR(number(json, where, "ranks", 1, kMostNumber, choice.ranks));
    TUTTI_RETURN_IF_ERROR(
        number(json, where, "cores", 1, static_cast<uint64_t>(choice.ranks), choice.cores));
    TUTTI_RETURN_IF_ERROR(number(json, where, "lowest", 0, UINT64_MAX, choice.lowest));
    if (json.contains("highest")) {
      TUTTI_RETURN_IF_ERROR(
          number(json, where, "highest", choice.lowest, UINT64_MAX, choice.highest));
    }
    std::string name;
    TUTTI_RETURN_IF_ERROR(string(json, where, "algorithm", name));
    choice.algorithm = find_algorithm(collective, name);
    if (choice.algorithm == nullptr) {
      return wrong(
          where + ".algorithm",
          fmt::format("an algorithm of {} (tutti info lists them)", collective_name(collective)),
          find(json, "algorithm"));
    }
    tuning_.choices.push_back(choice);
    return {};
  }

  const std::string& path_;
  Tuning tuning_;
};

Json json_of(const TunedDevice& device) {
  Json json = {
      {"api", device.api}, {"name", device.name}, {"driver", device.driver}, {"ipc", device.ipc}};
  for (const DeviceFigure& figure : device_figures()) {
    json[std::string(figure.name)] = device.figures.*figure.value;
  }
  return json;
}

}  // namespace

Result<Tuning> parse_tuning(std::string_view text, const std::string& path) {
  if (nests_too_deep(text)) {
    return Status::format(Code::kInvalidArgument, "tuning file {}: {}", path, kNestsTooDeep);
  }
  try {
    return Reader(path).read(Json::parse(text));
  } catch (const Json::parse_error& error) {
    const size_t at = std::min(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n');
    return Status::format(Code::kInvalidArgument,
                          "tuning file {}: line {}: expected JSON, found something else at byte {} "
                          "of {}",
                          path, line, at, text.size());
  } catch (const Json::exception& error) {  // a number beyond all types
    return Status::format(Code::kInvalidArgument, "tuning file {}: {}", path, error.what());
  }
}

std::string print_tuning(const Tuning& tuning) {
  Json machine;
  for (const MachineFigure& figure : machine_figures()) {
    machine[std::string(figure.name)] = tuning.machine.*figure.value;
  }
  machine["cache_bytes"] = tuning.machine.cache_bytes;
  Json choices = Json::object();
  for (const TunedChoice& choice : tuning.choices) {
    Json entry = {{"ranks", choice.ranks}, {"cores", choice.cores}, {"lowest", choice.lowest}};
    if (choice.highest != UINT64_MAX) entry["highest"] = choice.highest;
    entry["algorithm"] = choice.algorithm->name;
    choices[std::string(collective_name(choice.collective))].push_back(std::move(entry));
  }
  const MachineKey& key = tuning.key;
  Json json = {{"format", kFormat},
               {"key",
                {{"processor", key.processor},
                 {"cores", key.cores},
                 {"l2_bytes", key.l2_bytes},
                 {"numa_nodes", key.numa_nodes},
                 {"version", key.version}}},
               {"machine", std::move(machine)}};
  if (tuning.network) {
    json["network"] = {{"message_s", tuning.network->message_s},
                       {"line_byte_s", tuning.network->line_byte_s}};
  }
  for (const TunedDevice& device : tuning.devices) json["devices"].push_back(json_of(device));
  json["choices"] = std::move(choices);
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace tutti
