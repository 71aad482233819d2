// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/kernel_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "core/fd.hpp"
#include "core/files.hpp"
#include "core/hash.hpp"
#include "core/log.hpp"
#include "env/env.hpp"

namespace tutti::devices {
namespace {

std::string_view text_of(std::span<const unsigned char> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

KernelCache KernelCache::of_user() {
  const Getter getter = process_environment();
  std::string folder = getter("XDG_CACHE_HOME").value_or("");
  if (folder.starts_with('/')) return KernelCache(folder + "/tutti");
  folder = getter("HOME").value_or("");
  return KernelCache(folder.starts_with('/') ? folder + "/.cache/tutti" : "");
}

std::string KernelCache::path_of(std::string_view key) const {
  return folder_.empty() ? "" : fmt::format("{}/kernels-{:016x}.bin", folder_, hash_of(key));
}

// The key, a line; a hash of the binary; and the binary. Two keys of one hash do not meet, and a
// driver is never handed a binary that was damaged.
std::optional<std::vector<unsigned char>> KernelCache::read(std::string_view key) const {
  if (folder_.empty()) return std::nullopt;
  const Fd file(open(path_of(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat found {};
  if (!file.open() || fstat(file.get(), &found) != 0) return std::nullopt;
  const bool ours = S_ISREG(found.st_mode) && found.st_uid == geteuid() &&
                    (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  const auto bytes = static_cast<size_t>(found.st_size);
  uint64_t hash = 0;
  const size_t head = key.size() + sizeof hash;
  if (!ours || bytes <= head) return std::nullopt;
  std::vector<unsigned char> content(bytes);
  if (read_all(file.get(), reinterpret_cast<char*>(content.data()), bytes) !=
      static_cast<ssize_t>(bytes)) {
    return std::nullopt;
  }
  if (std::memcmp(content.data(), key.data(), key.size()) != 0) return std::nullopt;
  std::memcpy(&hash, content.data() + key.size(), sizeof hash);
  if (hash_of(text_of(std::span(content).subspan(head))) != hash) return std::nullopt;
  content.erase(content.begin(), content.begin() + static_cast<ptrdiff_t>(head));
  return content;
}

void KernelCache::write(std::string_view key, const std::vector<unsigned char>& binary) const {
  if (folder_.empty() || binary.empty()) return;
  std::vector<unsigned char> content(key.begin(), key.end());
  const uint64_t hash = hash_of(text_of(binary));
  content.resize(key.size() + sizeof hash);
  std::memcpy(content.data() + key.size(), &hash, sizeof hash);
  content.insert(content.end(), binary.begin(), binary.end());
  if (const Status status = put(path_of(key), content); !status.ok()) {
    log::info("compiled device kernels are not kept: {}", status.message());
  }
}

Status KernelCache::put(const std::string& path, const std::vector<unsigned char>& content) const {
  for (size_t end = folder_.find('/', 1);; end = folder_.find('/', end + 1)) {
    const std::string parent = folder_.substr(0, end);
    if (mkdir(parent.c_str(), 0700) != 0 && errno != EEXIST && access(parent.c_str(), X_OK) != 0) {
      return Status::system(errno, "make the folder " + parent);
    }
    if (end == std::string::npos) break;
  }
  std::string temporary = path + ".XXXXXX";
  const Fd file(mkostemp(temporary.data(), O_CLOEXEC));  // mode 0600
  if (!file.open()) return Status::system(errno, "make the file " + temporary);
  if (write_all(file.get(), text_of(content)) && rename(temporary.c_str(), path.c_str()) == 0) {
    return {};
  }
  const Status status = Status::system(errno, "write " + path);
  unlink(temporary.c_str());
  return status;
}

}  // namespace tutti::devices
