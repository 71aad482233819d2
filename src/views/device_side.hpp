// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The parts that a view has beside its communicator: the device and its engines, and memory that
// calls on it need besides their buffers.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "devices/device.hpp"
#include "views/activity.hpp"
#include "views/peer_memory.hpp"

namespace tutti {

class DeviceSide;

// Memory that a call borrows from its view. It is pinned memory of the host, through which bytes go
// to and from a device, or memory of the device. It is given back when this goes, unless the device
// may still use it.
class BorrowedMemory {
 public:
  BorrowedMemory() = default;
  BorrowedMemory(DeviceSide& side, const Activity& activity, devices::MemoryKind kind, void* data,
                 size_t bytes)
      : side_(&side), activity_(&activity), kind_(kind), data_(data), bytes_(bytes) {}
  BorrowedMemory(BorrowedMemory&& other) noexcept { *this = std::move(other); }
  BorrowedMemory& operator=(BorrowedMemory&& other) noexcept;
  ~BorrowedMemory() { reset(); }
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }
  void reset();

 private:
  DeviceSide* side_ = nullptr;
  const Activity* activity_ = nullptr;
  devices::MemoryKind kind_ = devices::MemoryKind::kPinned;
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

class DeviceSide {
 public:
  static Result<std::unique_ptr<DeviceSide>> make(std::shared_ptr<devices::DeviceContext> context);
  ~DeviceSide();
  DeviceSide(const DeviceSide&) = delete;
  DeviceSide& operator=(const DeviceSide&) = delete;

  [[nodiscard]] devices::DeviceContext& context() const { return *context_; }
  // The engines that copy from the device and to it. Like those below, they belong to the thread
  // that makes progress.
  [[nodiscard]] devices::DeviceEngine& from_device() const { return *from_device_; }
  [[nodiscard]] devices::DeviceEngine& to_device() const { return *to_device_; }

  // The engine that runs kernels, made at its first use.
  Result<devices::DeviceEngine*> compute();
  // Memory that peers read of this process, and it of theirs.
  [[nodiscard]] PeerMemory& peer_memory() { return peers_; }

  // Memory for a call, which `activity` outlives; none for 0 bytes. Any thread.
  Status take(Activity& activity, size_t bytes, BorrowedMemory& taken,
              devices::MemoryKind kind = devices::MemoryKind::kPinned);
  // Takes memory of a call back; only BorrowedMemory calls this. Any thread.
  void give_back(devices::MemoryKind kind, void* data, size_t bytes) noexcept;
  // Memory of the context that was allocated for the application. Any thread.
  Status free(void* memory);

  // The places of a call's buffers; a null buffer counts as lying where the other does.
  struct Buffers {
    bool on_device = false;  // on the device; false: on the host
    devices::MemoryPlace send;
    devices::MemoryPlace recv;
  };
  // An error if they are neither of the device nor the host's. `what` names the call.
  Result<Buffers> find(std::string_view what, const void* send, const void* recv) const;
  // Whether it is memory of the view's device alone, and of an allocation that can be exported.
  [[nodiscard]] bool is_of_device(const devices::MemoryPlace& place) const {
    return place.kind == devices::MemoryKind::kDevice && place.allocation != 0 &&
           place.device == context_->native().device;
  }

 private:
  explicit DeviceSide(std::shared_ptr<devices::DeviceContext> context)
      : context_(std::move(context)), peers_(*context_) {}
  struct Spare {
    devices::MemoryKind kind;
    void* data;
    size_t bytes;
  };
  const std::shared_ptr<devices::DeviceContext> context_;
  PeerMemory peers_;
  std::unique_ptr<devices::DeviceEngine> from_device_;
  std::unique_ptr<devices::DeviceEngine> to_device_;
  std::unique_ptr<devices::DeviceEngine> compute_;
  std::mutex mutex_;
  std::vector<Spare> spare_;  // guarded by mutex_
  size_t spare_bytes_ = 0;    // guarded by mutex_
};

}  // namespace tutti
