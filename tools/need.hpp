// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How a subcommand ends when something that it needs is not there.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "core/status.hpp"

namespace tutti {

struct Need {
  const char* command;  // "tutti bench", before every text

  // Ends the command with status 1.
  [[noreturn]] void fail(std::string_view text) const {
    fmt::print(stderr, "{}: {}\n", command, text);
    throw CLI::RuntimeError(1);
  }

  template <typename Value>
  Value operator()(Result<Value> result) const {
    if (!result.ok()) fail(result.status().message());
    return *std::move(result);
  }
  void operator()(const Status& status) const {
    if (!status.ok()) fail(status.message());
  }

  // "-" is standard output; nothing is written to an empty path.
  void write(const std::string& path, const std::string& text) const {
    if (path.empty()) return;
    FILE* const file = path == "-" ? stdout : std::fopen(path.c_str(), "we");
    const bool whole =
        file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (!whole || (path == "-" ? std::fflush(file) : std::fclose(file)) != 0) {
      fail(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
    }
  }
};

}  // namespace tutti
