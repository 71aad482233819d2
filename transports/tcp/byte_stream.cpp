// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/byte_stream.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/tuned.hpp"
#include "transports/tcp/records.hpp"

namespace tutti::tcp {
namespace {

// How many bytes a system call has moved. A signal may interrupt it.
size_t moved(ByteStream::Outcome& outcome, const auto& call) {
  ssize_t count = call();
  while (count < 0 && errno == EINTR) count = call();
  if (count >= 0) return static_cast<size_t>(count);
  outcome.is_last = true;
  if (errno != EAGAIN) outcome.failure = std::strerror(errno);
  return 0;
}

// How many bytes a system call that reads has moved.
size_t moved_in(ByteStream::Outcome& outcome, const auto& call) {
  const size_t got = moved(outcome, call);
  if (got == 0 && !outcome.is_last) outcome.failure = "the connection was closed";
  return got;
}

class PlainStream final : public ByteStream {
 public:
  Outcome write(int socket, std::span<iovec> parts) override {
    size_t total = 0;
    for (const iovec& part : parts) total += part.iov_len;
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    Outcome outcome;
    outcome.bytes =
        moved(outcome, [&] { return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT); });
    outcome.is_last = outcome.bytes < total;
    return outcome;
  }

  Outcome read(int socket, std::span<std::byte> place, std::byte* rest) override {
    std::array<iovec, 2> parts = {iovec{place.data(), place.size()},
                                  iovec{rest, tuned::kRestBytes}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    Outcome outcome;
    const size_t got = moved_in(outcome, [&] {
      return place.empty() ? recv(socket, rest, tuned::kRestBytes, MSG_DONTWAIT)
                           : recvmsg(socket, &message, MSG_DONTWAIT);
    });
    outcome.bytes = std::min(got, place.size());
    outcome.rest = got - outcome.bytes;
    outcome.is_last = got < place.size() + tuned::kRestBytes;
    return outcome;
  }

  [[nodiscard]] size_t rest_bytes() const override { return tuned::kRestBytes; }
  [[nodiscard]] bool holds_back() const override { return false; }
};

class SealedStream final : public ByteStream {
 public:
  SealedStream(Sealing incoming, Sealing outgoing) : records_(incoming, outgoing) {}

  Outcome write(int socket, std::span<iovec> parts) override {
    if (records_.unsent().empty()) records_.seal(text_of(parts));
    const std::span<const std::byte> unsent = records_.unsent();
    Outcome outcome;
    records_.sent(moved(outcome, [&] {
      return send(socket, unsent.data(), unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }));
    outcome.is_last = !records_.unsent().empty();
    if (!outcome.is_last) outcome.bytes = records_.text_bytes();
    return outcome;
  }

  Outcome read(int socket, std::span<std::byte> place, std::byte* rest) override {
    Outcome outcome;
    if (!records_.has_whole()) {
      const std::span<std::byte> space = records_.space();
      records_.received(moved_in(
          outcome, [&] { return recv(socket, space.data(), space.size(), MSG_DONTWAIT); }));
      if (!records_.has_whole()) return outcome;
    }
    const size_t text = records_.next_text();
    const bool fits = text > 0 && text <= place.size();
    if (!records_.open(fits ? place.data() : rest)) {
      outcome.failure =
          "what came is not what the peer sent: a record was changed, repeated or left "
          "out";
    }
    (fits ? outcome.bytes : outcome.rest) = text;
    return outcome;
  }

  [[nodiscard]] size_t rest_bytes() const override { return kRecordBytes; }
  [[nodiscard]] bool holds_back() const override { return records_.has_whole(); }

 private:
  // The next record's text. It is taken where it lies if that is one place and long, else copied
  // together.
  std::span<const std::byte> text_of(std::span<const iovec> parts) {
    size_t filled = 0;
    for (const iovec& part : parts) {
      const auto* const bytes = static_cast<const std::byte*>(part.iov_base);
      if (filled == 0 && part.iov_len >= kRecordBytes) return {bytes, kRecordBytes};
      const size_t now = std::min(part.iov_len, kRecordBytes - filled);
      if (now > 0) std::memcpy(records_.room() + filled, bytes, now);
      filled += now;
    }
    return {records_.room(), filled};
  }

  Records records_;
};

}  // namespace

std::unique_ptr<ByteStream> plain_stream() { return std::make_unique<PlainStream>(); }

std::unique_ptr<ByteStream> sealed_stream(Sealing incoming, Sealing outgoing) {
  return std::make_unique<SealedStream>(incoming, outgoing);
}

}  // namespace tutti::tcp
