// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What members and the service say to each other: frames of a 32-bit length, a kind and a body.
//   member -> service   kHello  kGather(bytes)  kLeave
//   service -> member   kWelcome when all ranks are there; per gather one kPart(rank, bytes) of
//   each
//                       rank in order; kError(code, text) at any time, the last frame then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/socket.hpp"

namespace tutti::bootstrap {

inline constexpr uint32_t kMaxFrameBytes = 64 << 10;  // of kind and body
inline constexpr size_t kMaxGatherBytes = 4096;
inline constexpr uint32_t kHelloMagic = 0x49545554;  // "TUTI"
inline constexpr uint32_t kProtocol = 1;

enum class FrameKind : uint8_t {
  kHello = 1,
  kWelcome = 2,
  kGather = 3,
  kPart = 4,
  kError = 5,
  kLeave = 6,
  kAdmitted = 7,
};

struct Hello {
  uint32_t magic;
  uint32_t protocol;
  Random128 secret;
  int32_t rank;
  int32_t ranks;
  int32_t pid;         // as the member sees itself
  int32_t timeout_ms;  // how long it will wait from now; -1: for ever
};

struct Frame {
  FrameKind kind;
  std::span<const std::byte> body;  // valid until the buffer is next used
};

// Bytes received so far, cut into frames.
class FrameReader {
 public:
  enum class Got { kFrame, kMore, kGarbage };

  void append(std::span<const std::byte> bytes) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
  Got next(Frame& frame) {
    const size_t have = buffer_.size() - begin_;
    uint32_t length;
    if (have < sizeof length) return Got::kMore;
    std::memcpy(&length, buffer_.data() + begin_, sizeof length);
    if (length == 0 || length > kMaxFrameBytes) return Got::kGarbage;
    if (have < sizeof length + length) return Got::kMore;
    const std::byte* start = buffer_.data() + begin_ + sizeof length;
    frame = {static_cast<FrameKind>(*start), {start + 1, length - 1}};
    begin_ += sizeof length + length;
    return Got::kFrame;
  }

 private:
  std::vector<std::byte> buffer_;
  size_t begin_ = 0;
};

// Appends a frame whose body is the parts one after the other.
inline void put_frame(std::vector<std::byte>& out, FrameKind kind,
                      std::initializer_list<std::span<const std::byte>> parts) {
  uint32_t length = 1;
  for (const auto& part : parts) length += static_cast<uint32_t>(part.size());
  const auto head = std::as_bytes(std::span(&length, 1));
  out.insert(out.end(), head.begin(), head.end());
  out.push_back(static_cast<std::byte>(kind));
  for (const auto& part : parts) out.insert(out.end(), part.begin(), part.end());
}

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

inline std::string socket_name(const Random128& name) { return "tutti-" + to_hex(name); }

}  // namespace tutti::bootstrap
