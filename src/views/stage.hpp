// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a view of a communicator has besides it: the device and its queues, and memory of the host
// that the device copies to and from.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "devices/device.hpp"

namespace tutti {

class Stage {
 public:
  // Memory of the host for a piece, given back when it goes; or left alone for ever, if the device
  // may still write there.
  class Memory {
   public:
    Memory() = default;
    Memory(Stage& stage, void* data, size_t bytes) : stage_(&stage), data_(data), bytes_(bytes) {}
    Memory(Memory&& other) noexcept { *this = std::move(other); }
    Memory& operator=(Memory&& other) noexcept;
    ~Memory() { reset(); }
    [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }
    void reset();
    void leave() { stage_ = nullptr; }

   private:
    Stage* stage_ = nullptr;
    void* data_ = nullptr;
    size_t bytes_ = 0;
  };

  static Result<std::unique_ptr<Stage>> make(std::shared_ptr<devices::DeviceContext> context);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  [[nodiscard]] devices::DeviceContext& context() const { return *context_; }
  // From the device, and to it: of whoever pushes what is on the view.
  [[nodiscard]] devices::DeviceEngine& in() const { return *in_; }
  [[nodiscard]] devices::DeviceEngine& out() const { return *out_; }

  // Any thread. Nothing for 0 bytes.
  Result<Memory> take(size_t bytes);

  // Whether the buffers of a call are of the device (a null one is of either kind). An error if
  // they are neither that nor the host's. `what` names the call.
  Result<bool> on_device(std::string_view what, const void* send, const void* recv) const;

 private:
  explicit Stage(std::shared_ptr<devices::DeviceContext> context) : context_(std::move(context)) {}
  void give_back(void* data, size_t bytes);

  struct Spare {
    void* data;
    size_t bytes;
  };
  const std::shared_ptr<devices::DeviceContext> context_;
  std::unique_ptr<devices::DeviceEngine> in_;
  std::unique_ptr<devices::DeviceEngine> out_;
  std::mutex mutex_;
  std::vector<Spare> spare_;  // guarded by mutex_
  size_t spare_bytes_ = 0;    // guarded by mutex_
};

}  // namespace tutti
