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
      in_(std::make_unique_for_overwrite<std::byte[]>(2 * kWholeBytes)) {}

void Records::seal(std::span<const std::byte> text) {
  const auto length = static_cast<uint32_t>(text.size());
  outgoing_.seal({}, bytes_of(length), out_.get());
  outgoing_.seal({}, text, room());
  text_bytes_ = text.size();
  sealed_ = kHeadBytes + text.size() + kSealBytes;
  sent_ = 0;
}

std::span<std::byte> Records::space() {
  if (in_from_ == in_to_) in_from_ = in_to_ = 0;
  if (in_from_ >= kWholeBytes) {
    std::memmove(in_.get(), in_.get() + in_from_, in_to_ - in_from_);
    in_to_ -= in_from_;
    in_from_ = 0;
  }
  return {in_.get() + in_to_, 2 * kWholeBytes - in_to_};
}

void Records::received(size_t bytes) {
  in_to_ += bytes;
  open_head();
}

void Records::open_head() {
  if (next_ > 0 || broken_ || in_to_ - in_from_ < kHeadBytes) return;
  uint32_t length = 0;
  broken_ = !incoming_.open({}, {in_.get() + in_from_, kHeadBytes},
                            reinterpret_cast<std::byte*>(&length)) ||
            length == 0 || length > kRecordBytes;
  in_from_ += kHeadBytes;
  if (!broken_) next_ = length;
}

bool Records::open(std::byte* to) {
  if (broken_) return false;
  broken_ = !incoming_.open({}, {in_.get() + in_from_, next_ + kSealBytes}, to);
  if (broken_) return false;
  in_from_ += std::exchange(next_, 0) + kSealBytes;
  open_head();
  return true;
}

}  // namespace tutti::tcp
