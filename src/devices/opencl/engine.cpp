// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/opencl/engine.hpp"

#include <algorithm>

namespace tutti::devices::opencl {
namespace {

// One size for all counts: a driver may compile a kernel anew for each size of its groups. A device
// may take fewer work-items for a kernel; then it is so many.
constexpr size_t kGroup = 128;

}  // namespace

Engine::Engine(std::shared_ptr<Context> context, cl_command_queue queue)
    : context_(std::move(context)), cl_(context_->cl()), queue_(queue) {}

Engine::~Engine() {
  (void)comes_to_rest(*this);
  for (const Submission& submission : submitted_) {
    for (cl_event const event : submission.events) cl_.clReleaseEvent(event);
  }
  for (cl_event const event : given_) cl_.clReleaseEvent(event);
  for (const auto& [key, ready] : kernels_) cl_.clReleaseKernel(ready.kernel);
  cl_.clReleaseCommandQueue(queue_);
}

Status Engine::error(cl_int error, std::string_view function) const {
  return failed(error, function).with_context(context_->name());
}

Status Engine::after(std::shared_ptr<DeviceEvent> event) {
  cl_event awaited = static_cast<cl_event>(event->native());
  cl_event barrier = nullptr;
  const cl_int result = cl_.clEnqueueBarrierWithWaitList(queue_, 1, &awaited, &barrier);
  if (result != CL_SUCCESS) return error(result, "clEnqueueBarrierWithWaitList");
  given_.push_back(barrier);
  return {};
}

Status Engine::copy(void* dst, const void* source, size_t bytes) {
  if (bytes == 0) return {};
  cl_event event = nullptr;
  const bool usm = context_->device().usm;
  const cl_int result =
      usm ? context_->device().usm_functions.copy(queue_, CL_FALSE, dst, source, bytes, 0, nullptr,
                                                  &event)
          : cl_.clEnqueueSVMMemcpy(queue_, CL_FALSE, dst, source, bytes, 0, nullptr, &event);
  if (result != CL_SUCCESS)
    return error(result, usm ? "clEnqueueMemcpyINTEL" : "clEnqueueSVMMemcpy");
  given_.push_back(event);
  return {};
}

size_t Engine::group_of(cl_kernel kernel) const {
  size_t most = 0;
  const cl_int result = cl_.clGetKernelWorkGroupInfo(
      kernel, context_->device().id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, nullptr);
  return result == CL_SUCCESS ? std::clamp<size_t>(most, 1, kGroup) : 1;
}

Result<Engine::Ready> Engine::kernel(const DeviceKernel& key) {
  if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second;
  Result<cl_program> program = context_->program(key.type, key.variant);
  if (!program.ok()) return program.status();
  cl_int result = CL_SUCCESS;
  cl_kernel const made = cl_.clCreateKernel(*program, key.name.data(), &result);
  if (result != CL_SUCCESS) return error(result, "clCreateKernel");
  const Ready ready{made, group_of(made)};
  kernels_.emplace(key, ready);
  return ready;
}

Status Engine::set_pointer(cl_kernel kernel, cl_uint index, const void* pointer) {
  const bool usm = context_->device().usm;
  const cl_int result = usm ? context_->device().usm_functions.set_argument(kernel, index, pointer)
                            : cl_.clSetKernelArgSVMPointer(kernel, index, pointer);
  if (result == CL_SUCCESS) return {};
  return error(result, usm ? "clSetKernelArgMemPointerINTEL" : "clSetKernelArgSVMPointer");
}

Status Engine::launch(const DeviceLaunch& launch) {
  TUTTI_ASSIGN_OR_RETURN(const Ready ready, kernel(launch.kernel));
  cl_uint index = 0;
  for (const auto& [pointer, bytes] : launch.memory) {
    const void* const valid = pointer != nullptr ? pointer : launch.memory[1].pointer;
    TUTTI_RETURN_IF_ERROR(set_pointer(ready.kernel, index++, valid));
  }
  for (const auto& [bits, bytes] : launch.values) {
    const cl_int result = cl_.clSetKernelArg(ready.kernel, index++, bytes, &bits);
    if (result != CL_SUCCESS) return error(result, "clSetKernelArg");
  }
  const size_t group = ready.group;
  const size_t global = (launch.work_items + group - 1) / group * group;
  cl_event event = nullptr;
  const cl_int result = cl_.clEnqueueNDRangeKernel(queue_, ready.kernel, 1, nullptr, &global,
                                                   &group, 0, nullptr, &event);
  if (result != CL_SUCCESS) return error(result, "clEnqueueNDRangeKernel");
  given_.push_back(event);
  return {};
}

Result<uint64_t> Engine::submit() {
  const cl_int result = cl_.clFlush(queue_);
  if (result != CL_SUCCESS) return error(result, "clFlush");
  submitted_.push_back({++last_, std::move(given_)});
  given_.clear();
  return last_;
}

Result<bool> Engine::done_within(uint64_t submission, Patience /*patience*/) {
  while (lost_.ok() && !submitted_.empty() && submitted_.front().number <= submission) {
    Submission& front = submitted_.front();
    // Backwards: the last one ends last.
    while (!front.events.empty()) {
      const Result<bool> over = ended(cl_, front.events.back());
      if (!over.ok()) {
        lost_ = over.status().with_context(context_->name());
        return lost_;
      }
      if (!*over) return false;
      cl_.clReleaseEvent(front.events.back());
      front.events.pop_back();
    }
    submitted_.pop_front();
  }
  if (!lost_.ok()) return lost_;
  return true;
}

}  // namespace tutti::devices::opencl
