// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The figures of this process's machine by which algorithms are chosen. They come from tuning
// files, which are read and written here, or from defaults. The figures of rank 0 count for all.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "env/env.hpp"
#include "select/tuning.hpp"

namespace tutti {

// The key of this host; found out anew at every call.
MachineKey this_machine();
std::string to_string(const MachineKey& key);

// The cost model's defaults, with the size of this machine's second-level cache.
Machine usual_machine();

// More is no tuning file.
inline constexpr size_t kMostTuningBytes = 1 << 20;

// The file of this key in the user's cache folder: $XDG_CACHE_HOME/tutti/tuning-<hash>.json, or
// below ~/.cache; nullopt if the environment has neither.
std::optional<std::string> default_tuning_path(const MachineKey& key, const Getter& getter);

Result<Tuning> read_tuning_file(const std::string& path);
// Writes the file so that a reader finds the old one or the new one, whole. It has mode 0600, and
// folders that are missing are made with 0700.
Status write_tuning_file(const std::string& path, const Tuning& tuning);

// The file that TUTTI_TUNING_FILE names, or the default one for this machine, or none. An error if
// a named one cannot be used; a warning if the default one cannot.
Result<std::optional<FoundTuning>> find_tuning(const Environment& environment,
                                               const Getter& getter);

// The tuning file's figures, else usual_machine() with an empty path.
Result<FoundTuning> tuning_to_use(const Environment& environment, const Getter& getter);

}  // namespace tutti
