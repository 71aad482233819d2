// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/bench/buffers.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace tutti::bench {

namespace {

constexpr size_t kAlignment = 4096;
constexpr size_t kHugePage = 2 << 20;

}  // namespace

Buffers::Buffers(const Case& measured, const Setting& setting)
    : case_(measured),
      setting_(setting),
      counts_(static_cast<size_t>(setting.ranks), measured.count) {
  for (size_t set = 0; set < setting.buffers; ++set) {
    host_calls_.push_back(allocate_set());
    Call& call = calls_.emplace_back(host_calls_.back());
    if (setting_.device == nullptr) continue;
    call.send = on_device(call.send);
    call.recv = on_device(call.recv);
  }
}

// The address in the twin of a buffer of the host.
void* Buffers::on_device(const void* host) const {
  const auto* const address = static_cast<const std::byte*>(host);
  for (const Twin& twin : twins_) {
    if (address < twin.host || address >= twin.host + twin.bytes) continue;
    return static_cast<std::byte*>(twin.memory.get()) + (address - twin.host);
  }
  return nullptr;
}

void Buffers::upload(size_t set) {
  if (setting_.device == nullptr) return;
  const size_t size = tutti_type_size(case_.type);
  const Call& host = host_calls_[set];
  setting_.device->copy(calls_[set].recv, host.recv, elements(case_.collective->recv) * size);
  setting_.device->copy(const_cast<void*>(calls_[set].send), host.send,
                        elements(case_.collective->send) * size);
}

void Buffers::download(size_t set) {
  if (setting_.device == nullptr) return;
  setting_.device->copy(host_calls_[set].recv, calls_[set].recv,
                        elements(case_.collective->recv) * tutti_type_size(case_.type));
}

void* Buffers::allocate(size_t count) {
  const size_t bytes = std::max<size_t>(1, count * tutti_type_size(case_.type));
  const size_t alignment = setting_.huge_pages ? kHugePage : kAlignment;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = nullptr;
  if (setting_.shared) {
    tutti_alloc(setting_.comm, rounded, &memory);
  } else {
    memory = std::aligned_alloc(alignment, rounded);
  }
  if (memory == nullptr) throw std::bad_alloc();
  if (setting_.huge_pages) madvise(memory, rounded, MADV_HUGEPAGE);  // a hint
  memory_.emplace_back(memory, Free{setting_.shared ? setting_.comm : nullptr});
  if (setting_.device != nullptr) {
    twins_.push_back({static_cast<std::byte*>(memory), rounded,
                      std::unique_ptr<void, FreeOnDevice>(setting_.device->allocate(rounded),
                                                          FreeOnDevice{setting_.device})});
  }
  return memory_.back().get();
}

Call Buffers::allocate_set() {
  Call call{.send = nullptr,
            .recv = nullptr,
            .count = case_.count,
            .counts = counts_.data(),
            .type = case_.type,
            .op = static_cast<tutti_op>(case_.op),
            .root = setting_.root,
            .rank = setting_.rank,
            .ranks = setting_.ranks,
            .comm = setting_.comm};
  const size_t send = elements(case_.collective->send);
  const size_t recv = elements(case_.collective->recv);
  if (!setting_.in_place) {
    call.send = allocate(send);
    call.recv = allocate(recv);
    return call;
  }
  // The shorter one is this rank's block of the longer one.
  auto* memory = static_cast<std::byte*>(allocate(std::max(send, recv)));
  std::byte* own = memory + static_cast<size_t>(setting_.rank) * case_.bytes();
  call.send = send < recv ? own : memory;
  call.recv = recv < send ? own : memory;
  return call;
}

size_t Buffers::elements(Blocks blocks) const {
  switch (blocks) {
    case Blocks::kNone: return 0;
    case Blocks::kOne: return case_.count;
    case Blocks::kAll: return case_.count * static_cast<size_t>(setting_.ranks);
  }
  return 0;
}

Pattern Buffers::input(int rank) const {
  if (!case_.collective->reduces) return Pattern::copied(case_.type, rank);
  return Pattern::reduction_input(case_.type, case_.op, rank, setting_.ranks);
}

void Buffers::prepare(size_t set) {
  const Call& call = host_calls_[set];
  Pattern::poison(case_.type).fill(call.recv, 0, elements(case_.collective->recv));
  const bool is_source =
      case_.collective->outcome == Outcome::kFromRoot && setting_.rank == setting_.root;
  if (is_source) input(setting_.rank).fill(call.recv, 0, case_.count);
  // The table's calls see a send buffer as const; the memory is this object's.
  input(setting_.rank).fill(const_cast<void*>(call.send), 0, elements(case_.collective->send));
  upload(set);
}

// One block after the other, rank r's being its own data from element `first` on.
std::optional<Mismatch> Buffers::check_all_ranks(const Call& call, size_t first) const {
  std::optional<Mismatch> found;
  for (int rank = 0; rank < setting_.ranks; ++rank) {
    const size_t offset = static_cast<size_t>(rank) * case_.count;
    const auto* block =
        static_cast<const std::byte*>(call.recv) + offset * tutti_type_size(case_.type);
    auto mismatch = input(rank).find_mismatch(block, first, case_.count);
    if (!mismatch) continue;
    if (found) {
      found->wrong += mismatch->wrong;
    } else {
      mismatch->index += offset;
      found = mismatch;
    }
  }
  return found;
}

std::optional<Mismatch> Buffers::check(size_t set) {
  download(set);
  return find_mismatch(set);
}

std::optional<Mismatch> Buffers::find_mismatch(size_t set) const {
  const Call& call = host_calls_[set];
  const size_t own = static_cast<size_t>(setting_.rank) * case_.count;
  const bool at_root = setting_.rank == setting_.root;
  const int previous = (setting_.rank + setting_.ranks - 1) % setting_.ranks;
  const auto reduced = [&](size_t first) {
    return Pattern::reduction_result(case_.type, case_.op, setting_.ranks)
        .find_mismatch(call.recv, first, case_.count);
  };
  const auto from = [&](int rank, size_t first) {
    return input(rank).find_mismatch(call.recv, first, case_.count);
  };
  switch (case_.collective->outcome) {
    case Outcome::kNothing: return std::nullopt;
    case Outcome::kReduced: return reduced(0);
    case Outcome::kReducedAtRoot: return at_root ? reduced(0) : std::nullopt;
    case Outcome::kReducedBlock: return reduced(own);
    case Outcome::kFromRoot: return from(setting_.root, 0);
    case Outcome::kBlockFromRoot: return from(setting_.root, own);
    case Outcome::kFromAll: return check_all_ranks(call, 0);
    case Outcome::kFromAllAtRoot: return at_root ? check_all_ranks(call, 0) : std::nullopt;
    case Outcome::kBlockFromAll: return check_all_ranks(call, own);
    case Outcome::kFromPrevious: return from(previous, 0);
  }
  return std::nullopt;
}

}  // namespace tutti::bench
