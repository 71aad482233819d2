// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A connection whose bytes go encrypted: what is written and read otherwise goes by records.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transports/tcp/data_connection.hpp"

namespace tutti::tcp {

// The bytes after `written_` in the stream of heads and requests. They are taken where they lie if
// that is one place and long, else copied together; empty if there is nothing.
std::span<const std::byte> DataConnection::text_to_seal() {
  size_t skip = written_;
  size_t filled = 0;
  for (frames::Request* request = out_.first(); request != nullptr; request = request->next) {
    const Head head = head_of(*request);
    const std::byte* const parts[] = {reinterpret_cast<const std::byte*>(&head),
                                      memory_of(*request)};
    const size_t sizes[] = {sizeof head, request->bytes};
    for (size_t part = 0; part < 2; ++part) {
      const size_t begin = std::min(skip, sizes[part]);
      skip -= begin;
      const size_t left = sizes[part] - begin;
      if (filled == 0 && part == 1 && left >= kRecordBytes) {
        return {parts[part] + begin, kRecordBytes};
      }
      const size_t now = std::min(left, kRecordBytes - filled);
      if (now > 0) std::memcpy(records_->room() + filled, parts[part] + begin, now);
      filled += now;
    }
    if (filled == kRecordBytes) break;
  }
  return {records_->room(), filled};
}

void DataConnection::write_sealed() {
  for (;;) {
    if (records_->unsent().empty()) {
      const auto text = text_to_seal();
      if (text.empty()) return;
      records_->seal(text);
    }
    const auto unsent = records_->unsent();
    const ssize_t sent =
        ::send(socket_.get(), unsent.data(), unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) return fail(std::strerror(errno));
    records_->sent(static_cast<size_t>(sent));
    if (!records_->unsent().empty()) return;
    finish_written(records_->text_bytes());
  }
}

// Opens a record to where it belongs, if that is one place, else to the rest.
bool DataConnection::open_record() {
  const size_t text = records_->next_text();
  const bool to_place = text > 0 && place_ != nullptr && text <= head_.bytes - taken_;
  if (!records_->open(to_place ? memory_of(*place_) + taken_ : rest_.get())) {
    fail("what came is not what the peer sent: a record was changed, repeated or left out");
    return false;
  }
  if (to_place) {
    arrived(text);
  } else {
    rest_from_ = 0;
    rest_to_ = text;
  }
  return true;
}

void DataConnection::read_sealed() {
  for (size_t total = 0; total < kMostRead;) {
    rest_from_ += take(rest_.get() + rest_from_, rest_to_ - rest_from_);
    if (!open() || rest_from_ < rest_to_) return;
    rest_from_ = rest_to_ = 0;
    if (head_bytes_ == sizeof(Head) && place_ == nullptr) return;
    if (records_->has_whole()) {
      total += records_->next_text();
      if (!open_record()) return;
      continue;
    }
    const auto space = records_->space();
    const ssize_t got = recv(socket_.get(), space.data(), space.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got < 0) return fail(std::strerror(errno));
    if (got == 0) return fail("the connection was closed");
    records_->received(static_cast<size_t>(got));
  }
}

}  // namespace tutti::tcp
