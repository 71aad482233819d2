// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "select/tuning.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/affinity.hpp"
#include "core/topology.hpp"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kFormat = 1;
constexpr uint64_t kMostRanks = 1 << 20;

constexpr MachineFigure kFigures[] = {
    {"line_s", &Machine::line_s},
    {"line_next_s", &Machine::line_next_s},
    {"line_far_s", &Machine::line_far_s},
    {"line_far_next_s", &Machine::line_far_next_s},
    {"turn_s", &Machine::turn_s},
    {"message_s", &Machine::message_s},
    {"step_s", &Machine::step_s},
    {"copy_cached_s", &Machine::copy_cached_s},
    {"copy_memory_s", &Machine::copy_memory_s},
    {"handover_s", &Machine::handover_s},
    {"takeover_s", &Machine::takeover_s},
    {"walk_read_s", &Machine::walk_read_s},
    {"walk_write_s", &Machine::walk_write_s},
    {"message_byte_s", &Machine::message_byte_s},
    {"pull_s", &Machine::pull_s},
    {"pull_cached_s", &Machine::pull_cached_s},
    {"pull_shared_s", &Machine::pull_shared_s},
    {"pull_memory_s", &Machine::pull_memory_s},
    {"reduce_s", &Machine::reduce_s},
};
// All are here but cache_bytes, ranks_per_core and host: a figure that is added to Machine needs
// its name.
static_assert((std::size(kFigures) + 1) * sizeof(double) + sizeof(uint64_t) +
                  sizeof(Machine::host) ==
              sizeof(Machine));

std::string first_line_with(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  // The kernel prints processors one after another; the first is among the first lines.
  std::string line;
  for (int i = 0; i < 64 && std::getline(file, line); ++i) {
    if (!line.starts_with(name)) continue;
    const size_t colon = line.find(':');
    const size_t begin =
        colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

// ---- reading -----------------------------------------------------------------------------------

// Takes a document apart, and remembers where it is for the text of an error.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  Result<Tuning> read(const Json& json) {
    TUTTI_RETURN_IF_ERROR(only(json, "", {"format", "key", "machine", "network", "choices"}));
    uint64_t format = 0;
    TUTTI_RETURN_IF_ERROR(number(json, "", "format", kFormat, kFormat, format));
    TUTTI_RETURN_IF_ERROR(read_key(json));
    if (json.contains("machine")) TUTTI_RETURN_IF_ERROR(read_machine(json["machine"]));
    if (json.contains("network")) TUTTI_RETURN_IF_ERROR(read_network(json["network"]));
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
              std::initializer_list<std::string_view> fields) const {
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
    TUTTI_RETURN_IF_ERROR(number(*key, "key", "cores", 1, kMostRanks, tuning_.key.cores));
    TUTTI_RETURN_IF_ERROR(number(*key, "key", "l2_bytes", 0, UINT64_MAX, tuning_.key.l2_bytes));
    TUTTI_RETURN_IF_ERROR(number(*key, "key", "numa_nodes", 1, kMostRanks, tuning_.key.numa_nodes));
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
      const auto figure = std::ranges::find(kFigures, name, &MachineFigure::name);
      if (figure == std::end(kFigures)) {
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
    TUTTI_RETURN_IF_ERROR(number(json, where, "ranks", 1, kMostRanks, choice.ranks));
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

}  // namespace

std::span<const MachineFigure> machine_figures() { return kFigures; }

MachineKey this_machine() {
  MachineKey key;
  key.processor = first_line_with("/proc/cpuinfo", "model name");
  key.cores = static_cast<int>(online_cores().size());
  key.l2_bytes = cache_sizes().second_level;
  std::string nodes;
  std::ifstream("/sys/devices/system/node/online") >> nodes;
  const auto list = parse_core_list(nodes);
  key.numa_nodes = list && !list->automatic ? static_cast<int>(list->cores.size()) : 1;
  key.version = tutti_version_string();
  return key;
}

std::string to_string(const MachineKey& key) {
  return fmt::format("{}, {} cores, {} of L2, {} NUMA node{}, Tutti {}",
                     key.processor.empty() ? "unknown processor" : key.processor, key.cores,
                     format_size(key.l2_bytes), key.numa_nodes, key.numa_nodes == 1 ? "" : "s",
                     key.version);
}

CollectiveRules Tuning::rules_for(int ranks, int cores) const {
  CollectiveRules rules;
  for (const TunedChoice& choice : choices) {
    // More cores than ranks make no difference.
    if (choice.ranks != ranks || choice.cores != std::min(ranks, cores)) continue;
    rules[static_cast<size_t>(choice.collective)].push_back(
        {.algorithm = choice.algorithm, .lowest = choice.lowest, .highest = choice.highest});
  }
  return rules;
}

Result<Tuning> parse_tuning(std::string_view text, const std::string& path) {
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
  for (const MachineFigure& figure : kFigures) {
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
  json["choices"] = std::move(choices);
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace tutti
