// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/shm/hand_over.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/fd.hpp"
#include "kernels/copy.hpp"

namespace tutti::shm {
namespace {

// Copies from memory that this process may be unable to read, too, which is then an errno: through
// a pipe, for the kernel does not die of it.
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

Result<bool> HandOver::ask(int owner, std::byte* dst, uint64_t address, uint64_t bytes) {
  if (waiting_) {
    const Reply& reply = lines(rank_).reply;
    if (reply.number.load(std::memory_order_acquire) != wishes_) return false;
    waiting_ = false;
    const uint64_t piece = std::min(bytes - received_, kTrayBytes);
    if (reply.error != 0) {
      received_ = 0;
      return Status::system(reply.error,
                            fmt::format("its owner reading {} bytes at {:#x}", piece, address));
    }
    copy_bytes(dst + received_, trays_[rank_].base(), piece, CopyWay::kFromOthers);
    received_ += piece;
  }
  if (received_ == bytes) {
    received_ = 0;
    return true;
  }
  TUTTI_RETURN_IF_ERROR(wish(owner, address + received_, std::min(bytes - received_, kTrayBytes)));
  waiting_ = true;
  return false;
}

Status HandOver::wish(int owner, uint64_t address, uint64_t bytes) {
  auto tray = tray_of(rank_);
  if (!tray.ok()) return tray.status();
  if (wishes_ == 0) TUTTI_RETURN_IF_ERROR((*tray)->reserve(layout_.tray(rank_, lane_)));
  Wish& wish = lines(rank_).wish;
  wish.address = address;
  wish.bytes = bytes;
  wish.number_and_owner.store(numbered(++wishes_, owner), std::memory_order_release);
  lines(owner).asked.count.fetch_add(1, std::memory_order_release);
  return {};
}

bool HandOver::answer() {
  const uint32_t asked = lines(rank_).asked.count.load(std::memory_order_acquire);
  if (asked == looked_at_) return false;
  looked_at_ = asked;
  for (int asker = 0; asker < layout_.ranks(); ++asker) {
    if (asker == rank_) continue;
    const Wish& wish = lines(asker).wish;
    const uint64_t wished = wish.number_and_owner.load(std::memory_order_acquire);
    const auto number = static_cast<uint32_t>(wished >> 32);
    Reply& reply = lines(asker).reply;
    if (wished != numbered(number, rank_)) continue;
    if (reply.number.load(std::memory_order_relaxed) == number) continue;
    reply.error = fill_tray(asker, wish.address, wish.bytes);
    reply.number.store(number, std::memory_order_release);
  }
  return true;
}

Result<const Mapping*> HandOver::tray_of(int rank) {
  Mapping& tray = trays_[rank];
  if (!tray.is_open()) {
    auto mapped = region_.map(layout_.tray(rank, lane_));
    if (!mapped.ok()) return mapped.status();
    tray = *std::move(mapped);
  }
  return &tray;
}

// 0, or an errno.
int HandOver::fill_tray(int asker, uint64_t address, uint64_t bytes) {
  const auto tray = tray_of(asker);
  if (!tray.ok()) return ENOMEM;
  return copy_by_kernel((*tray)->base(), address, std::min(bytes, kTrayBytes));
}

}  // namespace tutti::shm
