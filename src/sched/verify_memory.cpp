// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "sched/verify_memory.hpp"

#include <algorithm>

namespace tutti {

std::span<const Piece> Memory::pieces(uint64_t begin, uint64_t end) const {
  const auto first = std::ranges::upper_bound(pieces_, begin, {}, &Piece::end);
  const auto last = std::ranges::lower_bound(first, pieces_.end(), end, {}, &Piece::begin);
  return {first, last};
}

void Memory::write(uint64_t begin, std::span<const Run> runs, uint32_t epoch, uint32_t step) {
  uint64_t end = begin;
  for (const Run& run : runs) end += run.bytes;
  const std::span<const Piece> old = pieces(begin, end);
  const auto first = pieces_.begin() + (old.data() - pieces_.data());
  const auto last = first + static_cast<std::ptrdiff_t>(old.size());

  replacement_.clear();
  if (!old.empty() && old.front().begin < begin) {
    replacement_.push_back(old.front());
    replacement_.back().end = begin;
  }
  uint64_t at = begin;
  for (const Run& run : runs) {
    replacement_.push_back({at, at + run.bytes, run.index, run.value, epoch, step});
    at += run.bytes;
  }
  if (!old.empty() && old.back().end > end) {
    replacement_.push_back(old.back());
    replacement_.back().index += end - old.back().begin;
    replacement_.back().begin = end;
  }

  const size_t kept = std::min(old.size(), replacement_.size());
  std::copy_n(replacement_.begin(), kept, first);
  const auto rest = first + static_cast<std::ptrdiff_t>(kept);
  if (kept < old.size()) {
    pieces_.erase(rest, last);
  } else {
    pieces_.insert(rest, replacement_.begin() + static_cast<std::ptrdiff_t>(kept),
                   replacement_.end());
  }
  forget_readings(begin, end);
}

void Memory::add_reading(const Reading& reading) {
  if (!readings_.empty()) {
    Reading& last = readings_.back();
    if (last.rank == reading.rank && last.epoch == reading.epoch && last.end == reading.begin) {
      last.end = reading.end;
      return;
    }
  }
  readings_.push_back(reading);
}

void Memory::end_sends(int rank, uint32_t epoch) {
  for (Reading& reading : readings_) {
    if (reading.rank == rank && reading.epoch == kUnderWay) reading.epoch = epoch;
  }
}

void Memory::forget_readings(uint64_t begin, uint64_t end) {
  for (size_t i = 0; i < readings_.size();) {
    Reading& reading = readings_[i];
    if (reading.end <= begin || end <= reading.begin) {
      ++i;
    } else if (reading.begin < begin) {
      if (reading.end > end) {
        Reading right = reading;
        right.begin = end;
        readings_.push_back(right);  // `reading` is not used after this
      }
      readings_[i++].end = begin;
    } else if (reading.end > end) {
      reading.begin = end;
      ++i;
    } else {
      reading = readings_.back();
      readings_.pop_back();
    }
  }
}

Clocks::Clocks(int ranks, bool enabled)
    : ranks_(static_cast<size_t>(ranks)), enabled_(enabled), now_(enabled ? ranks_ * ranks_ : 0) {
  if (!enabled) return;
  for (int rank = 0; rank < ranks; ++rank) now_[at(rank, rank)] = 1;
}

size_t Clocks::release(int rank) {
  if (!enabled_) return 0;
  const size_t place = released_.size();
  released_.resize(place + ranks_);
  std::copy_n(now_.begin() + static_cast<std::ptrdiff_t>(at(rank, 0)), ranks_,
              released_.begin() + static_cast<std::ptrdiff_t>(place));
  ++now_[at(rank, rank)];
  return place;
}

void Clocks::acquire(int rank, size_t released) {
  if (!enabled_) return;
  uint32_t* now = now_.data() + at(rank, 0);
  const uint32_t* other = released_.data() + released;
  for (size_t i = 0; i < ranks_; ++i) now[i] = std::max(now[i], other[i]);
}

namespace {

// The block of a peer's send buffer at which kPeerSend begins for `reader`; the whole buffer where
// all ranks know all sizes.
Range seen_by(const Problems& problems, int reader, int peer) {
  const Problem& problem = problems.of(peer);
  if (!sizes_are_own(problem.collective)) return {0, UINT64_MAX};
  const BufferBlocks blocks = blocks_of(problem.collective, peer == problem.root);
  if (blocks.send == Blocks::kNone) return {};
  return problem.send_block(blocks.send == Blocks::kPerRank ? reader : 0);
}

Ref as_its_owner_says(const Problems& problems, int reader, const Ref& ref) {
  if (ref.space() != Space::kPeerSend) return Ref::of(Space::kRecv, ref.offset);
  return Ref::of(Space::kSend, ref.offset + seen_by(problems, reader, ref.peer()).offset);
}

}  // namespace

Location location_of(const Problems& problems, int rank, const Ref& ref) {
  const Space space = ref.space();
  if (is_shared(space)) return {ref.peer(), space, ref.offset};
  if (is_buffer_of_peer(space)) {
    return location_of(problems, ref.peer(), as_its_owner_says(problems, rank, ref));
  }
  const Problem& problem = problems.of(rank);
  const bool at_root = rank == problem.root;
  if (problem.in_place && can_be_in_place(problem.collective, at_root)) {
    const BufferBlocks blocks = blocks_of(problem.collective, at_root);
    if (exchanges_blocks(problem.collective)) {
      return {rank, space == Space::kRecv ? Space::kSend : space, ref.offset};
    }
    if (space == Space::kRecv && blocks.send == Blocks::kPerRank) {
      return {rank, Space::kSend, problem.send_block(rank).offset + ref.offset};
    }
    if (space == Space::kSend && blocks.recv == Blocks::kPerRank) {
      return {rank, Space::kRecv, problem.recv_block(rank).offset + ref.offset};
    }
    if (space == Space::kSend && blocks.send == Blocks::kOne) {
      return {rank, Space::kRecv, ref.offset};
    }
  }
  return {rank, space, ref.offset};
}

namespace {

bool inside_length(const Ref& ref, uint64_t bytes, uint64_t length) {
  return ref.offset <= length && bytes <= length - ref.offset;
}

bool inside_uniform_blocks(const Problem& problem, const Ref& ref, uint64_t bytes) {
  const auto ranks = static_cast<uint64_t>(problem.ranks);
  if (problem.stride == problem.count) return inside_length(ref, bytes, ranks * problem.bytes());
  return ref.offset / problem.stride_bytes() < ranks &&
         ref.offset % problem.stride_bytes() + bytes <= problem.bytes();
}

// Whether the bytes lie in one of the blocks: where these are uneven, a step touches one at a time.
bool inside_one_of(const BlockLayout& layout, uint32_t element_bytes, const Ref& ref,
                   uint64_t bytes) {
  for (size_t i = 0; i < layout.counts.size(); ++i) {
    const uint64_t begin = layout.offsets[i] * element_bytes;
    const uint64_t end = begin + layout.counts[i] * element_bytes;
    if (begin <= ref.offset && ref.offset + bytes <= end) return true;
  }
  return false;
}

bool inside_buffer(const Problem& problem, Blocks blocks, const BlockLayout& layout, const Ref& ref,
                   uint64_t bytes) {
  if (blocks == Blocks::kNone) return false;
  if (!layout.counts.empty()) return inside_one_of(layout, problem.element_bytes, ref, bytes);
  if (blocks == Blocks::kPerRank) return inside_uniform_blocks(problem, ref, bytes);
  return inside_length(ref, bytes, problem.bytes());
}

}  // namespace

bool inside(const Problems& problems, int rank, uint64_t scratch_bytes, const Ref& ref,
            uint64_t bytes) {
  const Problem& problem = problems.of(rank);
  const BufferBlocks blocks = blocks_of(problem.collective, rank == problem.root);
  switch (ref.space()) {
    case Space::kSend: return inside_buffer(problem, blocks.send, problem.layouts.send, ref, bytes);
    case Space::kRecv: return inside_buffer(problem, blocks.recv, problem.layouts.recv, ref, bytes);
    case Space::kScratch: return inside_length(ref, bytes, scratch_bytes);
    case Space::kLine: return inside_length(ref, bytes, kLineBytes);
    case Space::kSlot:
      return inside_length(ref, bytes,
                           std::max(problem.whole_slot_bytes(), problem.ping_pong_slot_bytes()));
    case Space::kWindow: return inside_length(ref, bytes, problem.limits.window_bytes);
    case Space::kPeerSend:
      if (!inside_length(ref, bytes, seen_by(problems, rank, ref.peer()).bytes)) return false;
      [[fallthrough]];
    case Space::kPeerRecv:
      return inside(problems, ref.peer(), scratch_bytes, as_its_owner_says(problems, rank, ref),
                    bytes);
  }
  return false;
}

}  // namespace tutti
