// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The memory of a communicator as an outsider sees it. It is read, never mapped, so nothing is
// changed and no page is taken. A file that is shorter than it says is an error, not a signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/fd.hpp"

namespace tutti::inspect {

class Source {
 public:
  virtual ~Source() = default;
  // Copies what lies `offset` bytes in; false if that is not all to be had.
  [[nodiscard]] virtual bool read(uint64_t offset, std::span<std::byte> to) const = 0;
};

// A file.
class FileSource final : public Source {
 public:
  explicit FileSource(Fd file) : file_(std::move(file)) {}
  [[nodiscard]] bool read(uint64_t offset, std::span<std::byte> to) const override;

 private:
  const Fd file_;
};

// A range of it that a process has mapped.
struct MappedRange {
  uint64_t address;
  uint64_t offset;  // in the file
  uint64_t bytes;
};
class ProcessSource final : public Source {
 public:
  ProcessSource(int pid, std::vector<MappedRange> ranges) : pid_(pid), ranges_(std::move(ranges)) {}
  [[nodiscard]] bool read(uint64_t offset, std::span<std::byte> to) const override;

 private:
  const int pid_;
  const std::vector<MappedRange> ranges_;
};

}  // namespace tutti::inspect
