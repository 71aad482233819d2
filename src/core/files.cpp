// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "core/fd.hpp"
#include "core/folder.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

// A draft that is older is nobody's any more, however the clocks of hosts differ.
constexpr std::chrono::hours kDraftLives{1};

std::string start_of_drafts(const std::string& path) { return path + ".draft-"; }

// A failure here has one effect: they stay.
void remove_old_drafts(const std::string& path) {
  const std::string start = start_of_drafts(fs::path(path).filename().string());
  const fs::path folder = fs::path(path).parent_path();
  const auto oldest = fs::file_time_type::clock::now() - kDraftLives;
  for (const std::string& name : entries_of(folder.empty() ? "." : folder.string())) {
    if (!name.starts_with(start)) continue;
    std::error_code gone;
    const auto written = fs::last_write_time(folder / name, gone);
    if (!gone && written < oldest) fs::remove(folder / name, gone);
  }
}

}  // namespace

Status make_private_folders(const std::string& folder) {
  struct stat found {};
  if (folder.empty() || stat(folder.c_str(), &found) == 0) return {};
  TUTTI_RETURN_IF_ERROR(make_private_folders(fs::path(folder).parent_path().string()));
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return Status::system(errno, "making the folder " + folder);
}

Status replace_file(const std::string& path, std::string_view text, mode_t mode, Durable durable) {
  static std::atomic<uint32_t> drafts{0};
  remove_old_drafts(path);
  std::string draft;
  Fd file;
  do {
    draft = fmt::format("{}{}-{}", start_of_drafts(path), getpid(), drafts++);
    file = Fd(open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  } while (!file.open() && errno == EEXIST);
  if (!file.open()) return Status::system(errno, "making the file " + draft);
  const bool whole =
      write_all(file.get(), text) && (durable == Durable::kNo || fsync(file.get()) == 0);
  file.reset();  // over NFS other hosts see what is in it from then on
  if (whole && std::rename(draft.c_str(), path.c_str()) == 0) return {};
  const Status status = Status::system(errno, "writing the file " + path);
  unlink(draft.c_str());
  return status;
}

}  // namespace tutti
