// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/opencl/engine.hpp"

#include <algorithm>
#include <cstring>

namespace tutti::devices::opencl {
namespace {

// One size for all counts: a driver may compile a kernel anew for each size of its groups. A device
// may take fewer work-items for a kernel; then it is so many.
constexpr size_t kGroup = 128;

uintptr_t address(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

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

Result<Engine::Ready> Engine::kernel(const KernelKey& key) {
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

Status Engine::launch(const Ready& ready, uint64_t work_items) {
  const size_t group = ready.group;
  const size_t global = (work_items + group - 1) / group * group;
  cl_event event = nullptr;
  const cl_int result = cl_.clEnqueueNDRangeKernel(queue_, ready.kernel, 1, nullptr, &global,
                                                   &group, 0, nullptr, &event);
  if (result != CL_SUCCESS) return error(result, "clEnqueueNDRangeKernel");
  given_.push_back(event);
  return {};
}

Status Engine::prepare(ReduceOp op, DataType type) {
  const char* const name = device_kernel_name(op, type);
  if (name == nullptr) {
    return Status::format(Code::kUnsupported, "{}: no kernel for {} of {}", context_->name(),
                          op_name(op), type_name(type));
  }
  for (const DeviceVariant variant : {DeviceVariant::kScalar, DeviceVariant::kVector}) {
    Result<Ready> made = kernel({part_type(type), variant, name});
    if (!made.ok()) return made.status();
  }
  return {};
}

Status Engine::reduce(const Reduction& asked) {
  const char* const name = device_kernel_name(asked.op, asked.type, asked.part);
  const size_t k = asked.sources.size();
  if (name == nullptr || k == 0 || k > kMostSources) {
    return Status::format(Code::kUnsupported, "{}: no kernel for {} of {} {}", context_->name(),
                          op_name(asked.op), k, type_name(asked.type));
  }
  const Reduction given = by_parts(asked);
  if (given.count == 0) return {};
  uintptr_t addresses = address(given.dst);
  for (const void* const source : given.sources) addresses |= address(source);
  const DeviceVariant variant =
      passes_floats(given) ? DeviceVariant::kScalar : device_variant_for(addresses);
  Result<Ready> made = kernel({given.type, variant, name});
  if (!made.ok()) return made.status();
  TUTTI_RETURN_IF_ERROR(set_pointer(made->kernel, 0, given.dst));
  for (size_t s = 0; s < kMostSources; ++s) {
    TUTTI_RETURN_IF_ERROR(
        set_pointer(made->kernel, static_cast<cl_uint>(1 + s), given.sources[s < k ? s : 0]));
  }
  const cl_uint sources = static_cast<cl_uint>(k);
  const cl_ulong count = given.count;
  const cl_uint divisor = std::max<cl_uint>(given.divisor, 1);
  cl_int result = cl_.clSetKernelArg(made->kernel, 9, sizeof sources, &sources);
  if (result == CL_SUCCESS) result = cl_.clSetKernelArg(made->kernel, 10, sizeof count, &count);
  if (result == CL_SUCCESS) result = cl_.clSetKernelArg(made->kernel, 11, sizeof divisor, &divisor);
  if (result != CL_SUCCESS) return error(result, "clSetKernelArg");
  return launch(*made, device_work_items(given.type, variant, given.count));
}

Status Engine::scale(DataType type, void* dst, const void* source, const void* scalar,
                     uint64_t count) {
  if (count == 0) return {};
  if (device_kernel_name(ReduceOp::kPremulSum, type) == nullptr) {
    return Status::format(Code::kUnsupported, "{}: no kernel for {} of {}", context_->name(),
                          op_name(ReduceOp::kPremulSum), type_name(type));
  }
  const DeviceVariant variant = device_variant_for(address(dst) | address(source));
  Result<Ready> made = kernel({type, variant, kDeviceScaleKernel});
  if (!made.ok()) return made.status();
  TUTTI_RETURN_IF_ERROR(set_pointer(made->kernel, 0, dst));
  TUTTI_RETURN_IF_ERROR(set_pointer(made->kernel, 1, source));
  const cl_ulong elements = count;
  cl_ulong factor = 0;
  std::memcpy(&factor, scalar, type_size(type));
  cl_int result = cl_.clSetKernelArg(made->kernel, 2, sizeof elements, &elements);
  if (result == CL_SUCCESS) result = cl_.clSetKernelArg(made->kernel, 3, sizeof factor, &factor);
  if (result != CL_SUCCESS) return error(result, "clSetKernelArg");
  return launch(*made, device_work_items(type, variant, count));
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
