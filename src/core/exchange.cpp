// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/exchange.hpp"

#include <algorithm>

namespace tutti {
namespace {

constexpr size_t kMostSharedBytes = 1 << 24;

// Before the text.
struct Head {
  uint64_t bytes;
  int32_t error_code;
  int32_t reserved;
};

}  // namespace

Result<std::vector<std::string>> share(Exchange& exchange, const Result<std::string>& mine) {
  const std::string text = mine.ok() ? *mine : std::string(mine.status().message());
  const Head head{text.size(), static_cast<int32_t>(mine.status().code()), 0};
  std::string all(reinterpret_cast<const char*>(&head), sizeof head);
  all += text;

  const auto ranks = static_cast<size_t>(exchange.ranks());
  std::vector<std::string> got(ranks);
  std::vector<Head> heads(ranks);
  size_t longest = kMostGatherBytes;
  for (size_t at = 0; at < longest; at += kMostGatherBytes) {
    const std::string_view part = std::string_view(all).substr(std::min(at, all.size()));
    TUTTI_ASSIGN_OR_RETURN(
        auto round, exchange.allgather(std::as_bytes(std::span(part.substr(0, kMostGatherBytes)))));
    for (size_t r = 0; r < ranks; ++r) {
      const std::vector<std::byte>& bytes = round[r];
      got[r].append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (at > 0) continue;
      if (bytes.size() < sizeof(Head)) {
        return Status::format(Code::kInternal, "rank {} sent {} bytes where {} were expected", r,
                              bytes.size(), sizeof(Head));
      }
      std::memcpy(&heads[r], bytes.data(), sizeof(Head));
      if (heads[r].bytes > kMostSharedBytes) {
        return Status::format(Code::kInternal, "rank {} announced {} bytes, {} are the most", r,
                              heads[r].bytes, kMostSharedBytes);
      }
      longest = std::max(longest, sizeof(Head) + heads[r].bytes);
    }
  }
  for (size_t r = 0; r < ranks; ++r) {
    got[r].erase(0, sizeof(Head));
    if (heads[r].error_code == 0) continue;
    return Status::format(static_cast<Code>(heads[r].error_code), "rank {}: {}", r, got[r]);
  }
  for (size_t r = 0; r < ranks; ++r) {
    if (got[r].size() == heads[r].bytes) continue;
    return Status::format(Code::kInternal, "rank {} sent {} bytes where it announced {}", r,
                          got[r].size(), heads[r].bytes);
  }
  return got;
}

}  // namespace tutti
