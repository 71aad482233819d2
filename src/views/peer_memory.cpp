// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/peer_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace tutti {
namespace {

// Allocations that a rank shows, and that it has open of one peer: beyond, the least used go.
constexpr size_t kMostExported = 64;
constexpr size_t kMostOpened = 64;

uint64_t next_generation() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

PeerMemory::PeerMemory(devices::DeviceContext& context)
    : context_(context), generation_(next_generation()) {}

PeerMemory::~PeerMemory() {
  try_to([&] { (void)close_if([](const Opened&) { return true; }); });
}

// ---- what is exported --------------------------------------------------------------------------

// Handles keep memory, so those of allocations that the application has freed are given up. Drivers
// are asked only when there is something new to show.
void PeerMemory::drop_those_that_are_gone() {
  std::erase_if(exported_, [this](const Exported& one) {
    const Result<devices::MemoryPlace> now = context_.place_of(one.base);
    if (now.ok() && now->allocation == one.allocation) return false;
    gone_.push_back(one.allocation);
    return true;
  });
  if (exported_.size() < kMostExported) return;
  gone_.push_back(exported_.front().allocation);
  exported_.erase(exported_.begin());
}

Result<const PeerMemory::Exported*> PeerMemory::export_of(const devices::MemoryPlace& place) {
  const auto found = std::ranges::find(exported_, place.allocation, &Exported::allocation);
  if (found != exported_.end()) {
    std::rotate(found, found + 1, exported_.end());
    return &exported_.back();
  }
  drop_those_that_are_gone();
  TUTTI_ASSIGN_OR_RETURN(devices::MemoryHandle handle, context_.export_memory(place.base));
  exported_.push_back({place.allocation, place.base, std::move(handle)});
  std::erase(gone_, place.allocation);  // it is here again
  return &exported_.back();
}

Result<ExportedBuffer> PeerMemory::export_buffer(const void* buffer,
                                                 const devices::MemoryPlace& place) {
  const std::lock_guard lock(mutex_);
  TUTTI_ASSIGN_OR_RETURN(const Exported* const found, export_of(place));
  const devices::MemoryHandle& handle = found->handle;
  ExportedBuffer exported;
  exported.allocation = place.allocation;
  exported.base = reinterpret_cast<uint64_t>(place.base);
  exported.bytes = place.bytes;
  exported.offset = reinterpret_cast<uint64_t>(buffer) - exported.base;
  exported.handle = handle.bytes;
  exported.fd = handle.fd.get();
  return exported;
}

void PeerMemory::forget(const void* base) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(exported_, base, &Exported::base);
  if (found == exported_.end()) return;
  gone_.push_back(found->allocation);
  exported_.erase(found);
}

GoneAllocations PeerMemory::take_gone() {
  const std::lock_guard lock(mutex_);
  GoneAllocations told{};
  const size_t count = std::min(told.size(), gone_.size());
  std::copy_n(gone_.begin(), count, told.begin());
  gone_.erase(gone_.begin(), gone_.begin() + static_cast<ptrdiff_t>(count));
  return told;
}

GoneAllocations PeerMemory::last_gone() {
  const std::lock_guard lock(mutex_);
  GoneAllocations told{};
  const size_t count = std::min(told.size(), gone_.size());
  std::copy_n(gone_.rbegin(), count, told.begin());
  return told;
}

// ---- what is opened ----------------------------------------------------------------------------

template <typename Which>
Status PeerMemory::close_if(const Which& which) {
  Status first;
  std::erase_if(opened_, [&](const Opened& one) {
    if (!which(one)) return false;
    generation_ = next_generation();
    if (const Status closed = context_.close_memory(one.memory); !closed.ok()) first = closed;
    return true;
  });
  return first;
}

Status PeerMemory::close(int rank, const GoneAllocations& gone) {
  for (Opened& one : opened_) {
    const bool is_told = std::ranges::find(gone, one.allocation) != gone.end();
    if (one.rank != rank || one.gone || !is_told) continue;
    one.gone = some_gone_ = true;
    generation_ = next_generation();  // nobody may count on it
  }
  if (reads_ > 0 || !some_gone_) return {};
  some_gone_ = false;
  return close_if([](const Opened& one) { return one.gone; });
}

// ---- descriptors that are handed over ----------------------------------------------------------

void PeerMemory::serve() {
  const std::lock_guard lock(mutex_);
  fd_server_.serve([this](const WantedFd& wanted) {
    return std::ranges::any_of(exported_, [&](const Exported& one) {
      return one.allocation == wanted.allocation && one.handle.fd.get() == wanted.fd;
    });
  });
}

// ---- opening -----------------------------------------------------------------------------------

// The buffer of a rank that is a thread of this process.
Result<std::byte*> PeerMemory::own(const ExportedBuffer& exported) {
  auto* const base = reinterpret_cast<std::byte*>(exported.base);
  TUTTI_ASSIGN_OR_RETURN(const devices::MemoryPlace place, context_.place_of(base));
  if (place.kind == devices::MemoryKind::kDevice) return base + exported.offset;
  return Status(Code::kUnsupported, "the buffer of a rank in this process is of another context");
}

// The buffer, if its allocation is open; else null.
Result<std::byte*> PeerMemory::find(int rank, const ExportedBuffer& exported) {
  const auto found = std::ranges::find_if(opened_, [&](const Opened& one) {
    return one.rank == rank && one.allocation == exported.allocation && one.base == exported.base;
  });
  if (found == opened_.end()) return nullptr;
  found->gone = false;
  std::rotate(found, found + 1, opened_.end());
  return static_cast<std::byte*>(opened_.back().memory) + exported.offset;
}

Status PeerMemory::make_room(int rank, const ExportedBuffer& exported) {
  // Allocations that the peer had at these addresses have gone.
  TUTTI_RETURN_IF_ERROR(close_if([&](const Opened& one) {
    return one.rank == rank && one.base < exported.base + exported.bytes &&
           exported.base < one.base + one.bytes;
  }));
  const auto open = std::ranges::count(opened_, rank, &Opened::rank);
  if (reads_ > 0 || open < static_cast<ptrdiff_t>(kMostOpened)) return {};
  const uint64_t oldest = std::ranges::find(opened_, rank, &Opened::rank)->allocation;
  return close_if([&](const Opened& one) { return one.rank == rank && one.allocation == oldest; });
}

Result<std::byte*> PeerMemory::open(int rank, const ExportedBuffer& exported, Fd fd) {
  TUTTI_RETURN_IF_ERROR(make_room(rank, exported));
  devices::MemoryHandle handle;
  handle.bytes = exported.handle;
  handle.length = exported.bytes;
  handle.fd = std::move(fd);
  TUTTI_ASSIGN_OR_RETURN(void* const memory, context_.open_memory(handle));
  opened_.push_back({rank, exported.allocation, exported.base, exported.bytes, memory});
  return static_cast<std::byte*>(memory) + exported.offset;
}

Task PeerMemory::reach(Communicator& comm, int rank, const ExportedBuffer& exported,
                       const FdAddress& address, Result<std::byte*>& there) {
  const bool is_own = comm.process(rank).pid == getpid();
  there = is_own ? own(exported) : find(rank, exported);
  if (!there.ok() || *there != nullptr) co_return;
  Result<Fd> fd = Fd();
  if (exported.fd >= 0) {
    Task asked = ask_for_fd(address, {exported.allocation, exported.fd}, comm, fd);
    co_await asked;
  }
  if (!fd.ok()) {
    there = fd.status();
    co_return;
  }
  there = find(rank, exported);  // another call may have opened it meanwhile, and read there
  if (there.ok() && *there == nullptr) there = open(rank, exported, std::move(*fd));
}

void PeerMemory::leak() {
  opened_.clear();
  generation_ = next_generation();
}

}  // namespace tutti
