// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/device_side.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tutti {
namespace {

using devices::MemoryKind;
using devices::MemoryPlace;

// Spare memory up to this length in all is kept for later pieces. The rest goes back to the driver.
constexpr size_t kMostSpareBytes = 64 << 20;
constexpr size_t kLeastBytes = 4096;

std::string words_for(std::string_view name, const void* pointer, const MemoryPlace& place) {
  if (place.kind == MemoryKind::kForeign) {
    return fmt::format("{} {} is memory of a device in another context", name, pointer);
  }
  if (place.kind == MemoryKind::kBeyond) {
    return fmt::format("{} {} is memory of another device, which this one does not reach", name,
                       pointer);
  }
  return fmt::format("{} {} is {} memory", name, pointer, memory_kind_name(place.kind));
}

}  // namespace

BorrowedMemory& BorrowedMemory::operator=(BorrowedMemory&& other) noexcept {
  if (this == &other) return *this;
  reset();
  side_ = other.side_;
  activity_ = other.activity_;
  kind_ = other.kind_;
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = other.bytes_;
  return *this;
}

void BorrowedMemory::reset() {
  if (data_ != nullptr && !activity_->leaks()) side_->give_back(kind_, data_, bytes_);
  data_ = nullptr;
}

Result<std::unique_ptr<DeviceSide>> DeviceSide::make(
    std::shared_ptr<devices::DeviceContext> context) {
  std::unique_ptr<DeviceSide> made(new DeviceSide(std::move(context)));
  for (auto* const engine : {&made->from_device_, &made->to_device_}) {
    TUTTI_ASSIGN_OR_RETURN(auto opened, made->context_->make_engine(devices::EngineKind::kCopy));
    *engine = std::move(opened);
  }
  return made;
}

DeviceSide::~DeviceSide() {
  for (const Spare& spare : spare_) {
    try_to([&] { (void)context_->free(spare.data); });
  }
}

Result<devices::DeviceEngine*> DeviceSide::compute() {
  if (compute_ == nullptr) {
    TUTTI_ASSIGN_OR_RETURN(compute_, context_->make_engine(devices::EngineKind::kCompute));
  }
  return compute_.get();
}

Status DeviceSide::free(void* memory) {
  peers_.forget(memory);
  return context_->free(memory);
}

Status DeviceSide::take(Activity& activity, size_t bytes, BorrowedMemory& taken, MemoryKind kind) {
  taken.reset();
  if (bytes == 0) return {};
  // Drivers limit the length of an allocation: what is not kept is no longer than it has to be.
  const size_t whole =
      bytes > kMostSpareBytes ? bytes : std::bit_ceil(std::max(bytes, kLeastBytes));
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(
        spare_, [&](const Spare& one) { return one.kind == kind && one.bytes == whole; });
    if (found != spare_.end()) {
      taken = BorrowedMemory(*this, activity, kind, found->data, whole);
      spare_.erase(found);
      spare_bytes_ -= whole;
      return {};
    }
  }
  const Result<void*> made = context_->allocate(kind, whole);
  if (made.ok()) taken = BorrowedMemory(*this, activity, kind, *made, whole);
  return made.status();
}

// Memory that cannot be kept goes back to the driver. It leaks if the driver does not take it, for
// lack of memory.
void DeviceSide::give_back(MemoryKind kind, void* data, size_t bytes) noexcept {
  bool is_kept = false;
  try_to([&] {
    const std::lock_guard lock(mutex_);
    if (spare_bytes_ + bytes > kMostSpareBytes) return;
    spare_.push_back({kind, data, bytes});
    spare_bytes_ += bytes;
    is_kept = true;
  });
  if (!is_kept) try_to([&] { (void)free(data); });
}

Result<DeviceSide::Buffers> DeviceSide::find(std::string_view what, const void* send,
                                             const void* recv) const {
  if (send == nullptr) send = recv;
  if (recv == nullptr) recv = send;
  const Result<MemoryPlace> of_send = context_->place_of(send);
  if (!of_send.ok()) return of_send.status().with_context(what);
  const Result<MemoryPlace> of_recv = send == recv ? of_send : context_->place_of(recv);
  if (!of_recv.ok()) return of_recv.status().with_context(what);
  const auto is_no_use = [](const MemoryPlace& place) {
    return place.kind == MemoryKind::kForeign || place.kind == MemoryKind::kBeyond;
  };
  const bool foreign = is_no_use(*of_send) || is_no_use(*of_recv);
  if (!foreign && of_send->on_host() == of_recv->on_host()) {
    return Buffers{.on_device = !of_send->on_host(), .send = *of_send, .recv = *of_recv};
  }
  return Status::format(Code::kInvalidArgument,
                        "{} on a queue of {}: {}, {}: expected both of this context, or both of "
                        "the host",
                        what, context_->name(), words_for("send", send, *of_send),
                        words_for("recv", recv, *of_recv));
}

}  // namespace tutti
