// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Spaces that not every call uses: windows, buffers of peers.
#include "exec/addresses.hpp"

namespace tutti {

Addresses::Addresses(int rank, LaneMemory* memory)
    : rank_(rank),
      memory_(memory),
      shared_(memory == nullptr ? std::span<const LaneMemory::Rank>() : memory->ranks()),
      bases_(kPrivateSpaces + kPeerSpaces * shared_.size(), nullptr) {
  // A transport that leaves nothing out has windows from the start.
  for (int peer = 0; peer < ranks(); ++peer) {
    base(Space::kWindow, peer) = shared_[static_cast<size_t>(peer)].window;
  }
}

Status Addresses::map_windows() {
  if (base(Space::kWindow, rank_) != nullptr) return {};
  if (Status mapped = memory_->map_windows(); !mapped.ok()) return mapped;
  for (int peer = 0; peer < ranks(); ++peer) {
    base(Space::kWindow, peer) = shared_[static_cast<size_t>(peer)].window;
  }
  return {};
}

std::span<std::byte*, 2> Addresses::buffers_of(int rank) {
  std::byte** first = rank == rank_ ? bases_.data() : &base(Space::kPeerSend, rank);
  return std::span<std::byte*, 2>(first, 2);
}

bool Addresses::sees_all_buffers() {
  for (int rank = 0; rank < ranks(); ++rank) {
    for (const std::byte* buffer : buffers_of(rank)) {
      if (!memory_->is_shared(rank, reinterpret_cast<uint64_t>(buffer))) return false;
    }
  }
  return true;
}

void Addresses::take_mapped_buffers() {
  for (int peer = 0; peer < ranks(); ++peer) {
    if (peer == rank_) continue;
    for (std::byte*& buffer : buffers_of(peer)) {
      const auto theirs = reinterpret_cast<uint64_t>(buffer);
      buffer = const_cast<std::byte*>(memory_->mapped(peer, theirs, 0));
    }
  }
}

}  // namespace tutti
