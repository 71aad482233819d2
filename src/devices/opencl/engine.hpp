// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Work on an in-order queue of our own.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "devices/opencl/context.hpp"

namespace tutti::devices::opencl {

class Engine : public DeviceEngine {
 public:
  Engine(std::shared_ptr<Context> context, cl_command_queue queue);
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Status after(std::shared_ptr<DeviceEvent> event) override;
  Status copy(void* dst, const void* source, size_t bytes) override;
  Result<uint64_t> submit() override;
  Result<bool> done_within(uint64_t submission, Patience patience) override;

 private:
  [[nodiscard]] std::string name() const override { return context_->name(); }
  [[nodiscard]] uint64_t most_work_items() const override { return UINT64_MAX; }
  Status compile(const DeviceKernel& kernel) override { return this->kernel(kernel).status(); }
  Status launch(const DeviceLaunch& launch) override;

  struct Submission {
    uint64_t number;
    std::vector<cl_event> events;
  };

  struct Ready {
    cl_kernel kernel;
    size_t group;  // work-items of a group
  };
  Result<Ready> kernel(const DeviceKernel& key);
  [[nodiscard]] size_t group_of(cl_kernel kernel) const;
  Status set_pointer(cl_kernel kernel, cl_uint index, const void* pointer);
  [[nodiscard]] Status error(cl_int error, std::string_view function) const;

  const std::shared_ptr<Context> context_;
  const Library& cl_;
  cl_command_queue const queue_;
  std::map<DeviceKernel, Ready> kernels_;
  std::vector<cl_event> given_;  // events since the last submission
  std::deque<Submission> submitted_;
  uint64_t last_ = 0;
  Status lost_;  // failure of a command: everything after it fails
};

}  // namespace tutti::devices::opencl
