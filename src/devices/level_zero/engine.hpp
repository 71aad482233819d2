// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Work on an immediate command list of our own. Commands are kept until they are submitted. Then it
// is known which is the last, and only those that touch the same bytes get a barrier between them.
#pragma once

#include <deque>
#include <vector>

#include "devices/level_zero/kernels.hpp"

namespace tutti::devices::level_zero {

class Engine : public DeviceEngine {
 public:
  Engine(std::shared_ptr<Context> context, ze_command_list_handle_t list, bool computes);
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Status after(std::shared_ptr<DeviceEvent> event) override;
  Status copy(void* dst, const void* source, size_t bytes) override;
  Result<uint64_t> submit() override;
  Result<bool> done_within(uint64_t submission, Patience patience) override;

 private:
  [[nodiscard]] std::string name() const override { return context_->name(); }
  [[nodiscard]] uint64_t most_work_items() const override;
  Status compile(const DeviceKernel& kernel) override;
  Status launch(const DeviceLaunch& launch) override;

  // Bytes that a command reads or writes.
  struct Access {
    uintptr_t begin;
    uintptr_t end;
    bool writes;
  };
  struct Command {
    std::vector<Access> accesses;
    // One of: an event that what follows begins after; a kernel; a copy.
    std::shared_ptr<DeviceEvent> awaited;
    DeviceKernel kernel;
    std::vector<Argument> arguments;
    uint64_t work_items = 0;
    void* dst = nullptr;
    const void* source = nullptr;
  };
  // Memory that stands for that of the host, which the device does not reach.
  struct BounceBuffer {
    void* memory;
    void* dst;  // destination of a copy when all is done; or null
    size_t bytes;
  };
  struct Submission {
    uint64_t number;
    ze_event_handle_t event;
    std::vector<BounceBuffer> bounce_buffers;
    std::vector<std::shared_ptr<DeviceEvent>> awaited;
  };

  [[nodiscard]] bool conflicts(const Command& command) const;
  Status append(const Command& command, ze_event_handle_t event);
  Status append_launch(const Command& command, ze_event_handle_t event);
  Status append_all(ze_event_handle_t event);
  Status barrier(ze_event_handle_t event);
  Result<Argument> pointer(const void* pointer);
  Result<void*> stage(size_t bytes, void* dst);
  void finish(Submission& submission);

  const std::shared_ptr<Context> context_;
  const Library& ze_;
  ze_command_list_handle_t const list_;
  const bool computes_;
  Kernels kernels_;
  std::vector<Command> given_;                // commands since the last submission
  std::vector<BounceBuffer> bounce_buffers_;  // buffers since the last submission
  std::vector<Access> in_flight_;             // accesses of commands since the last barrier
  std::deque<Submission> submitted_;
  uint64_t last_ = 0;
  Status lost_;  // the first error of the device: everything after it is one
};

}  // namespace tutti::devices::level_zero
