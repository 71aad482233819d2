// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a view of a communicator has besides it: the device and its queues, and memory of the host
// that the device copies to and from.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "devices/device.hpp"
#include "views/peer_memory.hpp"

namespace tutti {

class Stage {
 public:
  // Memory of the host for a piece, or of the device, given back when it goes; or left alone for
  // ever, if the device may still write there.
  class Memory {
   public:
    Memory() = default;
    Memory(Stage& stage, devices::MemoryKind kind, void* data, size_t bytes)
        : stage_(&stage), kind_(kind), data_(data), bytes_(bytes) {}
    Memory(Memory&& other) noexcept { *this = std::move(other); }
    Memory& operator=(Memory&& other) noexcept;
    ~Memory() { reset(); }
    [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }
    void reset();
    void leave() { stage_ = nullptr; }

   private:
    Stage* stage_ = nullptr;
    devices::MemoryKind kind_ = devices::MemoryKind::kPinned;
    void* data_ = nullptr;
    size_t bytes_ = 0;
  };

  // Of a piece of a call: what is sent of it, and what is received.
  struct PieceMemory {
    Memory send;
    Memory recv;
    void leave() {
      send.leave();
      recv.leave();
    }
  };

  static Result<std::unique_ptr<Stage>> make(std::shared_ptr<devices::DeviceContext> context);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  [[nodiscard]] devices::DeviceContext& context() const { return *context_; }
  // From the device, and to it: of whoever pushes what is on the view.
  [[nodiscard]] devices::DeviceEngine& in() const { return *in_; }
  [[nodiscard]] devices::DeviceEngine& out() const { return *out_; }

  // For kernels, made at its first use; of the same.
  Result<devices::DeviceEngine*> compute();
  // What peers read of this process, and it of theirs; of the same.
  [[nodiscard]] PeerMemory& peers() { return peers_; }

  // Any thread. Nothing for 0 bytes.
  Result<Memory> take(size_t bytes, devices::MemoryKind kind = devices::MemoryKind::kPinned);
  Result<PieceMemory> take_for_piece(size_t send_bytes, size_t recv_bytes);
  // Memory of the context that was allocated for the application. Any thread.
  Status free(void* memory);

  // Where the buffers of a call lie; a null one where the other does.
  struct Buffers {
    bool on_device = false;  // else of the host
    devices::Place send;
    devices::Place recv;
  };
  // An error if they are neither of the device nor the host's. `what` names the call.
  Result<Buffers> find(std::string_view what, const void* send, const void* recv) const;
  // Whether it is memory of the view's device alone, and of an allocation that can be shown.
  [[nodiscard]] bool is_of_device(const devices::Place& place) const {
    return place.kind == devices::MemoryKind::kDevice && place.allocation != 0 &&
           place.device == context_->native().device;
  }

 private:
  explicit Stage(std::shared_ptr<devices::DeviceContext> context)
      : context_(std::move(context)), peers_(*context_) {}
  void give_back(devices::MemoryKind kind, void* data, size_t bytes);

  struct Spare {
    devices::MemoryKind kind;
    void* data;
    size_t bytes;
  };
  const std::shared_ptr<devices::DeviceContext> context_;
  PeerMemory peers_;
  std::unique_ptr<devices::DeviceEngine> in_;
  std::unique_ptr<devices::DeviceEngine> out_;
  std::unique_ptr<devices::DeviceEngine> compute_;
  std::mutex mutex_;
  std::vector<Spare> spare_;  // guarded by mutex_
  size_t spare_bytes_ = 0;    // guarded by mutex_
};

}  // namespace tutti
