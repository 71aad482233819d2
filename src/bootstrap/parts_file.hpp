// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A file without a name in which the ranks of a host find the parts of a round, so that the service
// sends these once per host. One of the ranks, its leader, writes there what it gets from the
// service, packed (parts.hpp), and says where. The service tells the others, with a hash. So nobody
// need trust the file, nor wait for anybody but the service: what a reader finds is what the
// service has sent, or the service sends it to the reader as well.
//
// Each round is written from the file's beginning: it begins when all have read the last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bootstrap/wire.hpp"
#include "core/fd.hpp"

namespace tutti::bootstrap {

class PartsWriter {
 public:
  // A round, to which add() appends.
  void begin();
  void add(std::span<const std::byte> body);
  // Where all of it is; nothing if this process may not have such a file.
  [[nodiscard]] std::optional<FilePlace> place() const;

 private:
  Fd file_;
  uint64_t bytes_ = 0;
  bool failed_ = false;
};

class PartsReader {
 public:
  // The bytes there, or nothing if they are not to be had, are others, or are more than `most`.
  std::optional<std::vector<std::byte>> read(const PartsPlace& place, uint64_t most);

 private:
  bool open_file(const FilePlace& place);

  Fd file_;
  FilePlace opened_{};
};

}  // namespace tutti::bootstrap
