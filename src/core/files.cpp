// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdio>
#include <filesystem>

#include "core/fd.hpp"

namespace tutti {

Status make_private_folders(const std::string& folder) {
  struct stat found {};
  if (folder.empty() || stat(folder.c_str(), &found) == 0) return {};
  TUTTI_RETURN_IF_ERROR(make_private_folders(std::filesystem::path(folder).parent_path().string()));
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return Status::system(errno, "making the folder " + folder);
}

Status replace_file(const std::string& path, std::string_view text, mode_t mode) {
  static std::atomic<uint32_t> drafts{0};
  std::string draft;
  Fd file;
  do {
    draft = fmt::format("{}.{}-{}", path, getpid(), drafts++);
    file = Fd(open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  } while (!file.open() && errno == EEXIST);
  if (!file.open()) return Status::system(errno, "making the file " + draft);
  if (write_all(file.get(), text) && fsync(file.get()) == 0 &&
      std::rename(draft.c_str(), path.c_str()) == 0) {
    return {};
  }
  const Status status = Status::system(errno, "writing the file " + path);
  unlink(draft.c_str());
  return status;
}

}  // namespace tutti
