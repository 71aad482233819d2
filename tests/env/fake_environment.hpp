// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// An environment for tests: a map instead of the process's own.
#pragma once

#include <map>
#include <string>

#include "env/env.hpp"

namespace tutti {

inline Getter fake_environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

}  // namespace tutti
