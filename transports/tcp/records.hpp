// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A stream of bytes as encrypted records, without the socket: each is its length with a seal, and
// so many bytes with another. So nobody can make a receiver wait for more than was sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/sealing.hpp"

namespace tutti::tcp {

inline constexpr size_t kRecordBytes = 64 << 10;  // longest record of the stream

class Records {
 public:
  Records(Sealing incoming, Sealing outgoing);

  // ---- out: one record at a time
  // Room for a text that lies in several places: kRecordBytes.
  [[nodiscard]] std::byte* room() { return out_.get() + kHeadBytes; }
  // Seals the next; the text may lie in room().
  void seal(std::span<const std::byte> text);
  [[nodiscard]] std::span<const std::byte> unsent() const {
    return {out_.get() + sent_, sealed_ - sent_};
  }
  void sent(size_t bytes) { sent_ += bytes; }
  // The text's, of the last that was sealed.
  [[nodiscard]] size_t text_bytes() const { return text_bytes_; }

  // ---- in
  // The room to read into.
  [[nodiscard]] std::span<std::byte> space();
  void received(size_t bytes);
  // Whether there is a record to be opened, be it one that makes no sense.
  [[nodiscard]] bool has_whole() const {
    return broken_ || (next_ > 0 && next_ + kSealBytes <= received_to_ - received_from_);
  }
  // The text's bytes of that one; 0: it makes no sense.
  [[nodiscard]] size_t next_text() const { return next_; }
  // Opens it. False: it is not what the other end has sent next.
  [[nodiscard]] bool open(std::byte* to);

 private:
  static constexpr size_t kHeadBytes = sizeof(uint32_t) + kSealBytes;
  static constexpr size_t kWholeBytes = kHeadBytes + kRecordBytes + kSealBytes;
  void open_head();

  Sealing incoming_;
  Sealing outgoing_;
  std::unique_ptr<std::byte[]> out_;
  size_t sealed_ = 0;
  size_t sent_ = 0;
  size_t text_bytes_ = 0;
  std::unique_ptr<std::byte[]> received_;  // room for two records
  size_t received_from_ = 0;
  size_t received_to_ = 0;
  size_t next_ = 0;  // the text's bytes of the record that comes; 0: not known yet
  bool broken_ = false;
};

}  // namespace tutti::tcp
