// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/records.hpp"

#include <cstring>
#include <utility>

#include "core/fields.hpp"

namespace tutti::tcp {

Records::Records(Sealing incoming, Sealing outgoing)
    : incoming_(incoming),
      outgoing_(outgoing),
      out_(std::make_unique_for_overwrite<std::byte[]>(kWholeBytes)),
      received_(std::make_unique_for_overwrite<std::byte[]>(2 * kWholeBytes)) {}

void Records::seal(std::span<const std::byte> text) {
  const auto length = static_cast<uint32_t>(text.size());
  outgoing_.seal({}, bytes_of(length), out_.get());
  outgoing_.seal({}, text, room());
  text_bytes_ = text.size();
  sealed_ = kHeadBytes + text.size() + kSealBytes;
  sent_ = 0;
}

std::span<std::byte> Records::space() {
  if (received_from_ == received_to_) received_from_ = received_to_ = 0;
  if (received_from_ >= kWholeBytes) {
    std::memmove(received_.get(), received_.get() + received_from_, received_to_ - received_from_);
    received_to_ -= received_from_;
    received_from_ = 0;
  }
  return {received_.get() + received_to_, 2 * kWholeBytes - received_to_};
}

void Records::received(size_t bytes) {
  received_to_ += bytes;
  open_head();
}

void Records::open_head() {
  if (next_ > 0 || broken_ || received_to_ - received_from_ < kHeadBytes) return;
  uint32_t length = 0;
  broken_ = !incoming_.open({}, {received_.get() + received_from_, kHeadBytes},
                            reinterpret_cast<std::byte*>(&length)) ||
            length == 0 || length > kRecordBytes;
  received_from_ += kHeadBytes;
  if (!broken_) next_ = length;
}

bool Records::open(std::byte* to) {
  if (broken_) return false;
  broken_ = !incoming_.open({}, {received_.get() + received_from_, next_ + kSealBytes}, to);
  if (broken_) return false;
  received_from_ += std::exchange(next_, 0) + kSealBytes;
  open_head();
  return true;
}

}  // namespace tutti::tcp
