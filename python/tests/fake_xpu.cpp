// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// XPU for tests on machines and builds of PyTorch that have none, which get it by
// torch.ops.load_library(): memory of a Level Zero device, that of the test driver. It is its own
// libtutti_sycl.so. All arithmetic is done on the CPU.
#include <ATen/core/Tensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty.h>
#include <c10/core/Allocator.h>
#include <level_zero/ze_api.h>
#include <torch/library.h>

#include <mutex>

#include "../sycl/tutti_sycl.h"
#include "made_up_device.hpp"

namespace {

using at::Tensor;
using c10::DeviceType;

void must(ze_result_t result, const char* what) {
  TORCH_CHECK(result == ZE_RESULT_SUCCESS, what, ": ", static_cast<uint32_t>(result));
}
#define ZE_MUST(call) must(call, #call)

// What PyTorch's stream stands for, in place of a sycl::queue. Never destroyed.
struct Queue {
  Queue() {
    ZE_MUST(zeInit(0));
    uint32_t one = 1;
    ze_driver_handle_t driver = nullptr;
    ZE_MUST(zeDriverGet(&one, &driver));
    ZE_MUST(zeDeviceGet(driver, &one, &device));
    const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    ZE_MUST(zeContextCreate(driver, &desc, &context));
    list = make_list(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    copies = make_list(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  }
  ze_command_list_handle_t make_list(ze_command_queue_mode_t mode) const {
    const ze_command_queue_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, 0, mode,
                                       ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    ze_command_list_handle_t made = nullptr;
    ZE_MUST(zeCommandListCreateImmediate(context, device, &desc, &made));
    return made;
  }
  void* allocate(size_t bytes) const {
    const ze_device_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
    void* memory = nullptr;
    ZE_MUST(zeMemAllocDevice(context, &desc, bytes, 64, device, &memory));
    return memory;
  }
  // By way of memory that a driver must know.
  void copy(void* to, const void* from, size_t bytes, bool to_device) {
    if (bytes == 0) return;
    const std::lock_guard guard(mutex);
    const ze_host_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    void* pinned = nullptr;
    ZE_MUST(zeMemAllocHost(context, &desc, bytes, 64, &pinned));
    if (to_device) std::memcpy(pinned, from, bytes);
    ZE_MUST(zeCommandListAppendMemoryCopy(copies, to_device ? to : pinned,
                                          to_device ? pinned : from, bytes, nullptr, 0, nullptr));
    if (!to_device) std::memcpy(to, pinned, bytes);
    ZE_MUST(zeMemFree(context, pinned));
  }

  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
  ze_command_list_handle_t list = nullptr;  // what is handed over
  ze_command_list_handle_t copies = nullptr;
  std::mutex mutex;
};

Queue& queue() {
  static auto* const instance = new Queue;
  return *instance;
}

struct Memory final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    const c10::Device device(DeviceType::XPU, 0);
    if (bytes == 0) return {nullptr, device};
    void* const memory = queue().allocate(bytes);
    return {memory, memory, [](void* old) { zeMemFree(queue().context, old); }, device};
  }
  void copy_data(void*, const void*, size_t) const override { TORCH_CHECK(false, "not there"); }
};

Memory& memory() {
  static auto* const instance = new Memory;
  return *instance;
}

struct Guard final : made_up::Guard<DeviceType::XPU> {
  void* getStreamNativeHandle(c10::Stream) const override { return &queue(); }
  void synchronizeStream(const c10::Stream&) const override {}
};
C10_REGISTER_GUARD_IMPL(XPU, Guard);

// All of the storage that a tensor is a view of, on the host, and the same view of that.
struct Mirror {
  explicit Mirror(const Tensor& tensor)
      : storage(at::empty({static_cast<int64_t>(tensor.storage().nbytes())},
                          at::TensorOptions(at::kByte))) {
    queue().copy(storage.data_ptr(), tensor.storage().data(), storage.nbytes(), false);
    view = at::native::as_strided_tensorimpl(storage.view(tensor.scalar_type()), tensor.sizes(),
                                             tensor.strides(), tensor.storage_offset());
  }
  void write_back(const Tensor& tensor) const {
    queue().copy(tensor.storage().mutable_data(), storage.data_ptr(), storage.nbytes(), true);
  }
  Tensor storage;
  Tensor view;
};

Tensor& copy(Tensor& to, const Tensor& from, bool) {
  if (to.numel() == 0) return to;
  const Tensor source = from.device().is_cpu() ? from : Mirror(from).view;
  if (to.device().is_cpu()) return to.copy_(source);
  const Mirror mirror(to);
  mirror.view.copy_(source);
  mirror.write_back(to);
  return to;
}

// What PyTorch's build for XPU has in c10d is that of any device, for a backend of another name.
void on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (op.operator_name().name.starts_with("c10d::")) {
    return op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), stack);
  }
  at::native::cpu_fallback(op, stack);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int tutti_sycl_queue(void* given,
                                                                       tutti_queue* native, char*,
                                                                       size_t) {
  const auto* of = static_cast<const Queue*>(given);
  native->api = TUTTI_DEVICE_LEVEL_ZERO;
  native->flags = TUTTI_QUEUE_IMMEDIATE;
  native->context = of->context;
  native->device = of->device;
  native->queue = of->list;
  return 0;
}

TORCH_LIBRARY_IMPL(aten, XPU, library) {
  made_up::Tensors<c10::DispatchKey::XPU, memory, copy>::implement(library);
}

TORCH_LIBRARY_IMPL(_, XPU, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
}
