// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Sends rank 0's figures and measured choices to all ranks.
#include "comm/shared_tuning.hpp"

#include <algorithm>
#include <cstring>

namespace tutti {
namespace {

constexpr size_t kPieceBytes = 4096;  // what an exchange takes at a time

// What rank 0 says first. Three texts follow, one after the other: the error, the path, the file.
struct Announcement {
  int32_t code = 0;
  uint32_t error_bytes = 0;
  uint32_t path_bytes = 0;
  uint32_t file_bytes = 0;
};

Result<std::string> receive(Exchange& exchange, std::string text, size_t bytes) {
  text.resize(bytes);
  for (size_t at = 0; at < bytes; at += kPieceBytes) {
    const size_t piece = std::min(kPieceBytes, bytes - at);
    const std::span<const char> mine(text.data() + at, exchange.rank() == 0 ? piece : 0);
    auto all = exchange.allgather(std::as_bytes(mine));
    if (!all.ok()) return all.status();
    if (all->front().size() != piece) {
      return Status::format(Code::kMismatch, "rank 0 sent {} bytes of its tuning file, expected {}",
                            all->front().size(), piece);
    }
    std::memcpy(text.data() + at, all->front().data(), piece);
  }
  return text;
}

}  // namespace

Result<FoundTuning> share_tuning(Exchange& exchange, Runtime& runtime) {
  Announcement said;
  std::string text;
  if (exchange.rank() == 0) {
    const Result<FoundTuning>& mine = runtime.tuning();
    if (exchange.ranks() == 1) return mine;
    std::string file;
    text = mine.status().message();
    said.code = static_cast<int32_t>(mine.status().code());
    said.error_bytes = static_cast<uint32_t>(text.size());
    if (mine.ok()) {
      text += mine->path;
      said.path_bytes = static_cast<uint32_t>(mine->path.size());
      file = print_tuning(mine->tuning);
      said.file_bytes = static_cast<uint32_t>(file.size());
      text += file;
    }
  }
  auto all = exchange.allgather(bytes_of(said).first(exchange.rank() == 0 ? sizeof said : 0));
  if (!all.ok()) return all.status();
  if (all->front().size() != sizeof said) {
    return Status(Code::kMismatch, "rank 0 runs a version of Tutti that shares no tuning file");
  }
  std::memcpy(&said, all->front().data(), sizeof said);
  const size_t bytes = size_t{said.error_bytes} + said.path_bytes + said.file_bytes;
  Result<std::string> received = receive(exchange, std::move(text), bytes);
  if (!received.ok()) return received.status();
  if (said.code != 0) {
    return Status(static_cast<Code>(said.code), received->substr(0, said.error_bytes));
  }
  const std::string path = received->substr(said.error_bytes, said.path_bytes);
  Result<Tuning> tuning =
      parse_tuning(std::string_view(*received).substr(said.error_bytes + said.path_bytes), path);
  if (!tuning.ok()) return tuning.status();
  return FoundTuning{path, *std::move(tuning)};
}

}  // namespace tutti
