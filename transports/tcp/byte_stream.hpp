// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The bytes that go over a connection's socket: as they are, or encrypted (records.hpp). A
// connection has one kind from its begin to its end.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "core/sealing.hpp"

namespace tutti::tcp {

class ByteStream {
 public:
  // The outcome of one attempt.
  struct Outcome {
    size_t bytes = 0;      // written, or read to the place
    size_t rest = 0;       // bytes read into the rest
    bool is_last = false;  // nothing more goes, or comes, for now
    std::string_view failure = {};
  };

  virtual ~ByteStream() = default;
  // Writes some of these bytes. The next call begins with those that have not been written.
  virtual Outcome write(int socket, std::span<iovec> parts) = 0;
  // Reads to the place as far as it goes, and beyond it, or instead of it, to the rest, which has
  // rest_bytes().
  virtual Outcome read(int socket, std::span<std::byte> place, std::byte* rest) = 0;
  [[nodiscard]] virtual size_t rest_bytes() const = 0;
  // Whether something was read from the socket that read() can give at once.
  [[nodiscard]] virtual bool holds_back() const = 0;
};

std::unique_ptr<ByteStream> plain_stream();
std::unique_ptr<ByteStream> sealed_stream(Sealing incoming, Sealing outgoing);

}  // namespace tutti::tcp
