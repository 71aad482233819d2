// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "support/level_zero/bitcode.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tutti_test::ze {

namespace {

constexpr const char* kTranslator = "llvm-spirv-15";

uint64_t hash(std::span<const uint8_t> bytes) {
  uint64_t value = 14695981039346656037u;  // FNV-1a
  for (const uint8_t byte : bytes) value = (value ^ byte) * 1099511628211u;
  return value;
}

// The user's own folder for temporary files; one that somebody else has made is not used.
std::string private_folder() {
  std::error_code ignored;
  const auto temporary = std::filesystem::temp_directory_path(ignored);
  std::string folder = temporary / ("tutti-test-ze-" + std::to_string(getuid()));
  mkdir(folder.c_str(), 0700);
  struct stat found {};
  const bool ours = lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
                    found.st_uid == getuid() && (found.st_mode & 077) == 0;
  if (ours) return folder;
  folder = temporary / "tutti-test-ze-XXXXXX";
  return mkdtemp(folder.data()) ? folder : std::string();
}

std::vector<uint8_t> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool translate(const std::string& from, const std::string& to) {
  std::string arguments[] = {kTranslator, "-r", from, "-o", to};
  char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                  arguments[3].data(), arguments[4].data(), nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, kTranslator, nullptr, nullptr, argv, environ) != 0) return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::vector<uint8_t> bitcode_of(std::span<const uint8_t> spirv, std::string* why) {
  const std::string folder = private_folder();
  const std::string kept =
      folder + "/" + std::to_string(hash(spirv)) + "-" + std::to_string(spirv.size()) + ".bc";
  if (std::vector<uint8_t> found = read_file(kept); !found.empty()) return found;
  const std::string mine = kept + "." + std::to_string(getpid());
  std::ofstream(mine + ".spv", std::ios::binary)
      .write(reinterpret_cast<const char*>(spirv.data()),
             static_cast<std::streamsize>(spirv.size()));
  const bool translated = translate(mine + ".spv", mine);
  unlink((mine + ".spv").c_str());
  if (!translated || rename(mine.c_str(), kept.c_str()) != 0) {
    unlink(mine.c_str());
    *why = std::string(kTranslator) + " does not translate the module";
    return {};
  }
  return read_file(kept);
}

}  // namespace tutti_test::ze
