// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/parts_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "bootstrap/parts.hpp"
#include "transports/shm/region.hpp"

namespace tutti::bootstrap {
namespace {

// All of the file's first bytes; false if there are not as many.
bool read_all(int file, std::span<std::byte> bytes) {
  for (size_t have = 0; have < bytes.size();) {
    const ssize_t got =
        pread(file, bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    have += static_cast<size_t>(got);
  }
  return true;
}

bool is_there(int file, const FilePlace& place, struct stat& found) {
  return fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_dev == place.device &&
         found.st_ino == place.inode;
}

}  // namespace

void PartsWriter::begin() {
  bytes_ = 0;
  if (file_.open() || failed_) return;
  auto file = shm::anonymous_file();
  failed_ = !file.ok();
  if (file.ok()) file_ = *std::move(file);
}

void PartsWriter::add(std::span<const std::byte> body) {
  while (!failed_ && !body.empty()) {
    const ssize_t put = pwrite(file_.get(), body.data(), body.size(), static_cast<off_t>(bytes_));
    if (put < 0 && errno == EINTR) continue;
    failed_ = put <= 0;
    if (failed_) return file_.reset();
    bytes_ += static_cast<uint64_t>(put);
    body = body.subspan(static_cast<size_t>(put));
  }
}

std::optional<FilePlace> PartsWriter::place() const {
  struct stat found {};
  if (failed_ || fstat(file_.get(), &found) != 0) return std::nullopt;
  return FilePlace{getpid(), file_.get(), found.st_dev, found.st_ino};
}

// The process there may have ended, and its number be another's by now: the file is looked at
// before it is opened, which might do something to a device.
bool PartsReader::open_file(const FilePlace& place) {
  if (file_.open() && opened_ == place) return true;
  const std::string name = fmt::format("/proc/{}/fd/{}", place.pid, place.fd);
  const Fd seen(open(name.c_str(), O_PATH | O_CLOEXEC));
  struct stat found {};
  if (!seen.open() || !is_there(seen.get(), place, found)) return false;
  file_.reset(open(fmt::format("/proc/self/fd/{}", seen.get()).c_str(), O_RDONLY | O_CLOEXEC));
  opened_ = place;
  return file_.open();
}

std::optional<std::vector<std::byte>> PartsReader::read(const PartsPlace& place, uint64_t most) {
  if (place.bytes > most || !open_file(place.file)) return std::nullopt;
  std::vector<std::byte> bytes(place.bytes);
  if (!read_all(file_.get(), bytes)) return std::nullopt;
  if (hash_of(std::span(&bytes, 1)) != place.hash) return std::nullopt;
  return bytes;
}

}  // namespace tutti::bootstrap
