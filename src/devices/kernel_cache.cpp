// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/kernel_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>

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

KernelCache KernelCache::of_user() { return KernelCache(user_cache_folder(process_environment())); }

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
  const uint64_t hash = hash_of(text_of(binary));
  std::string content(key);
  content.append(reinterpret_cast<const char*>(&hash), sizeof hash).append(text_of(binary));
  Status status = make_private_folders(folder_);
  if (status.ok()) status = replace_file(path_of(key), content, kPrivateFile);
  if (!status.ok()) log::info("compiled device kernels are not kept: {}", status.message());
}

}  // namespace tutti::devices
