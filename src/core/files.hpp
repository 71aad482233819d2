// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Whole reads and writes: past signals, where the system takes or gives less at once, and so that
// nobody reads half a file.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "core/status.hpp"

namespace tutti {

// Until the end of the file, at most `most` bytes. Returns how many; -1, with errno, if it fails.
inline ssize_t read_all(int file, char* to, size_t most) {
  size_t have = 0;
  while (have < most) {
    const ssize_t got = ::read(file, to + have, most - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(have);
}

// False, with errno, if not all is taken.
inline bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// Empty if it cannot be read. The system may open a file of /proc and then refuse to read it, which
// an iterator over the stream would throw.
inline std::string text_in_file(const std::string& path) {
  const std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

inline constexpr mode_t kPrivateFile = 0600;  // mode of a file for its user alone
inline constexpr mode_t kPublicFile = 0666;   // less what the umask takes away
// Whether a file is to outlast the end of the machine, and be seen by other hosts at once.
enum class Durable : bool { kNo, kYes };
// Replaces a file so that a reader finds the old one or the new one, whole. The new one is first a
// draft beside the old one. A later call removes drafts of processes that were killed.
Status replace_file(const std::string& path, std::string_view text, mode_t mode,
                    Durable durable = Durable::kNo);
// The folder and those above it, where they are missing, for their user alone.
Status make_private_folders(const std::string& folder);

}  // namespace tutti
