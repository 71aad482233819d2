// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/tuning_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "core/affinity.hpp"
#include "core/fd.hpp"
#include "core/files.hpp"
#include "core/hash.hpp"
#include "core/log.hpp"
#include "core/topology.hpp"

namespace tutti {
namespace {

constexpr std::string_view kNoFile = "none";

Status failed(const std::string& path, std::string_view what) {
  return Status::system(errno, fmt::format("tuning file {}: {}", path, what));
}

Result<std::string> read_text(const std::string& path) {
  // Not to wait for the writer of a pipe that is there instead of a file.
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.open()) return failed(path, "cannot open it");
  struct stat found {};
  if (fstat(file.get(), &found) != 0) return failed(path, "cannot read it");
  if (!S_ISREG(found.st_mode)) {
    return Status::format(Code::kInvalidArgument, "tuning file {}: expected a regular file", path);
  }
  std::string text(kMostTuningBytes + 1, '\0');
  const ssize_t size = read_all(file.get(), text.data(), text.size());
  if (size < 0) return failed(path, "cannot read it");
  if (static_cast<size_t>(size) > kMostTuningBytes) {
    return Status::format(Code::kInvalidArgument, "tuning file {}: expected at most {} bytes", path,
                          kMostTuningBytes);
  }
  text.resize(static_cast<size_t>(size));
  return text;
}

Result<std::optional<FoundTuning>> read_named(const std::string& path) {
  Result<Tuning> tuning = read_tuning_file(path);
  if (!tuning.ok()) return tuning.status().with_context("TUTTI_TUNING_FILE");
  if (const MachineKey here = this_machine(); tuning->key != here) {
    log::info("tuning file {} was made for another machine ({}) than this one ({})", path,
              to_string(tuning->key), to_string(here));
  }
  return std::optional(FoundTuning{path, *std::move(tuning)});
}

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

}  // namespace

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

Machine usual_machine() {
  Machine machine;
  if (const uint64_t bytes = this_machine().l2_bytes; bytes > 0) machine.cache_bytes = bytes;
  return machine;
}

std::string to_string(const MachineKey& key) {
  return fmt::format("{}, {} cores, {} of L2, {} NUMA node{}, Tutti {}",
                     key.processor.empty() ? "unknown processor" : key.processor, key.cores,
                     format_size(key.l2_bytes), key.numa_nodes, key.numa_nodes == 1 ? "" : "s",
                     key.version);
}

std::optional<std::string> default_tuning_path(const MachineKey& key, const Getter& getter) {
  const std::string folder = user_cache_folder(getter);
  if (folder.empty()) return std::nullopt;
  return fmt::format("{}/tuning-{:016x}.json", folder, hash_of(to_string(key)));
}

Result<Tuning> read_tuning_file(const std::string& path) {
  TUTTI_ASSIGN_OR_RETURN(std::string text, read_text(path));
  return parse_tuning(text, path);
}

Status write_tuning_file(const std::string& path, const Tuning& tuning) {
  Status status = make_private_folders(std::filesystem::path(path).parent_path().string());
  if (status.ok()) {
    status = replace_file(path, print_tuning(tuning), kPrivateFile, Durable::kYes);
  }
  return status.with_context("tuning file " + path);
}

Result<std::optional<FoundTuning>> find_tuning(const Environment& environment,
                                               const Getter& getter) {
  if (environment.tuning_file == kNoFile) return std::optional<FoundTuning>();
  if (!environment.tuning_file.empty()) return read_named(environment.tuning_file);
  const MachineKey here = this_machine();
  const std::optional<std::string> path = default_tuning_path(here, getter);
  if (!path || access(path->c_str(), F_OK) != 0) return std::optional<FoundTuning>();
  Result<Tuning> tuning = read_tuning_file(*path);
  if (!tuning.ok()) {
    log::warn("{}: ignored; `tutti tune` makes a new one", tuning.status().message());
  } else if (tuning->key != here) {
    log::warn("tuning file {}: ignored, because it was made for {}, expected {}", *path,
              to_string(tuning->key), to_string(here));
  } else {
    return std::optional(FoundTuning{*path, *std::move(tuning)});
  }
  return std::optional<FoundTuning>();
}

Result<FoundTuning> tuning_to_use(const Environment& environment, const Getter& getter) {
  TUTTI_ASSIGN_OR_RETURN(std::optional<FoundTuning> found, find_tuning(environment, getter));
  if (found.has_value()) return *std::move(found);
  FoundTuning measured;
  measured.tuning.key = this_machine();
  measured.tuning.machine = usual_machine();
  return measured;
}

}  // namespace tutti
