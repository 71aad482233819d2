// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/shm/fallback_copy.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/fd.hpp"
#include "kernels/copy.hpp"

namespace tutti::shm {
namespace {

// Copies from memory that even this process may be unable to read. A pipe makes that an errno,
// where a copy of its own would be a fault.
int copy_by_kernel(std::byte* dst, uint64_t address, uint64_t bytes) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return errno;
  const Fd out(ends[0]);
  const Fd in(ends[1]);
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t written =
        write(in.get(), reinterpret_cast<const void*>(address + done), bytes - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    for (uint64_t left = static_cast<uint64_t>(written); left > 0;) {
      const ssize_t taken = read(out.get(), dst + done, left);
      if (taken < 0 && errno == EINTR) continue;
      if (taken <= 0) return taken < 0 ? errno : EIO;
      done += static_cast<uint64_t>(taken);
      left -= static_cast<uint64_t>(taken);
    }
  }
  return 0;
}

uint64_t numbered(uint32_t number, int owner) {
  return uint64_t{number} << 32 | static_cast<uint32_t>(owner);
}

}  // namespace

Result<bool> FallbackCopy::ask(int owner, std::byte* dst, uint64_t address, uint64_t bytes) {
  if (waiting_) {
    const Reply& reply = lines(rank_).reply;
    if (reply.number.load(std::memory_order_acquire) != requests_) return false;
    waiting_ = false;
    const uint64_t piece = std::min(bytes - received_, kFallbackBytes);
    if (reply.error != 0) {
      received_ = 0;
      return Status::system(reply.error,
                            fmt::format("its owner reading {} bytes at {:#x}", piece, address));
    }
    copy_bytes(dst + received_, fallback_buffers_[rank_].base(), piece, CopyHint::kTemporal);
    received_ += piece;
  }
  if (received_ == bytes) {
    received_ = 0;
    return true;
  }
  TUTTI_RETURN_IF_ERROR(
      request(owner, address + received_, std::min(bytes - received_, kFallbackBytes)));
  waiting_ = true;
  return false;
}

Status FallbackCopy::request(int owner, uint64_t address, uint64_t bytes) {
  TUTTI_ASSIGN_OR_RETURN(auto buffer, buffer_of(rank_));
  if (requests_ == 0) TUTTI_RETURN_IF_ERROR(buffer->reserve(layout_.fallback_buffer(rank_, lane_)));
  FallbackRequest& request = lines(rank_).request;
  request.address = address;
  request.bytes = bytes;
  request.number_and_owner.store(numbered(++requests_, owner), std::memory_order_release);
  lines(owner).asked.count.fetch_add(1, std::memory_order_release);
  return {};
}

bool FallbackCopy::answer() {
  const uint32_t asked = lines(rank_).asked.count.load(std::memory_order_acquire);
  if (asked == looked_at_) return false;
  looked_at_ = asked;
  for (int asker = 0; asker < layout_.ranks(); ++asker) {
    if (asker == rank_) continue;
    const FallbackRequest& request = lines(asker).request;
    const uint64_t requested = request.number_and_owner.load(std::memory_order_acquire);
    const auto number = static_cast<uint32_t>(requested >> 32);
    Reply& reply = lines(asker).reply;
    if (requested != numbered(number, rank_)) continue;
    if (reply.number.load(std::memory_order_relaxed) == number) continue;
    reply.error = fill_buffer(asker, request.address, request.bytes);
    reply.number.store(number, std::memory_order_release);
  }
  return true;
}

Result<const Mapping*> FallbackCopy::buffer_of(int rank) {
  Mapping& buffer = fallback_buffers_[rank];
  if (!buffer.is_open()) {
    TUTTI_ASSIGN_OR_RETURN(buffer, region_.map(layout_.fallback_buffer(rank, lane_)));
  }
  return &buffer;
}

// Fills the buffer of the rank that asks; returns 0, or an errno.
int FallbackCopy::fill_buffer(int asker, uint64_t address, uint64_t bytes) {
  const auto buffer = buffer_of(asker);
  if (!buffer.ok()) return ENOMEM;
  return copy_by_kernel((*buffer)->base(), address, std::min(bytes, kFallbackBytes));
}

}  // namespace tutti::shm
