// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A driver is never handed a binary that is not the one that was kept for it.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "devices/kernel_cache.hpp"
#include "fuzz/fuzz.hpp"

namespace tutti::devices {
namespace {

using tutti_test::fuzz::demand;

class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() / fmt::format("tutti-fuzz-{}", getpid())) {}
  ~Folder() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
  }
  Folder(const Folder&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

FUZZ_TARGET(kernel_cache) {
  static const Folder folder;
  const KernelCache cache(folder.path());
  constexpr std::string_view kKey = "driver, device, module\n";
  const std::vector<unsigned char> kept = {1, 2, 3, 4, 5};
  cache.write(kKey, kept);
  {
    // Bytes that are changed where they lie, or others altogether.
    std::fstream file(cache.path_of(kKey),
                      std::ios::in | std::ios::out | std::ios::binary |
                          (input.number() % 2 == 0 ? std::ios::in : std::ios::trunc));
    file.seekp(input.number() % 40);
    const auto text = tutti_test::fuzz::text_of(input.rest());
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
  }
  const auto read = cache.read(kKey);
  demand(!read || *read == kept, "a binary that was damaged is left aside");
  std::filesystem::remove(cache.path_of(kKey));
}

}  // namespace
}  // namespace tutti::devices
