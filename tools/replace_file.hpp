// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A file that is replaced as a whole, so that nobody reads half of it.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "core/status.hpp"

namespace tutti_tools {

// By way of a file beside it, whose name ends in ".part".
inline tutti::Status replace_file(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  FILE* const file = std::fopen(part.c_str(), "we");
  const bool whole =
      file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = errno;
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (whole && closed && std::rename(part.c_str(), path.c_str()) == 0) return {};
  return tutti::Status::system(whole ? errno : error, fmt::format("writing {}", path));
}

}  // namespace tutti_tools
