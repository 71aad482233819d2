// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A device for tests on machines that have none, PyTorch's "privateuseone", which it gets by
// torch.ops.load_library(). A tensor's address cannot be used on the host; what it stands for lies
// elsewhere. All arithmetic is done on the CPU.
#include <ATen/core/Tensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/Allocator.h>
#include <sys/mman.h>
#include <torch/library.h>

#include <atomic>

#include "made_up_device.hpp"

namespace {

using at::Tensor;
using c10::DeviceType;

constexpr size_t kBytes = size_t{1} << 30;  // address space, of which little is used
std::atomic<int64_t> synchronized = 0;

std::byte* reserved(int protection) {
  void* memory =
      mmap(nullptr, kBytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  TORCH_CHECK(memory != MAP_FAILED, "no address space");
  return static_cast<std::byte*>(memory);
}

// Never given back.
struct Memory final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    const size_t begin = used.fetch_add((bytes + 63) / 64 * 64);
    TORCH_CHECK(begin + bytes <= kBytes, "the fake device is full");
    return {device + begin, c10::Device(DeviceType::PrivateUse1, 0)};
  }
  void copy_data(void*, const void*, size_t) const override { TORCH_CHECK(false, "not there"); }

  std::byte* const device = reserved(PROT_NONE);
  std::byte* const host = reserved(PROT_READ | PROT_WRITE);
  std::atomic<size_t> used = 0;
};

Memory& memory() {
  static Memory instance;
  return instance;
}

struct Guard final : made_up::Guard<DeviceType::PrivateUse1> {
  void synchronizeStream(const c10::Stream&) const override { ++synchronized; }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

// What autograd asks about accelerators.
struct Hooks final : at::PrivateUse1HooksInterface {
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
};

// What a tensor stands for, with the values where they lie.
Tensor on_host(const Tensor& tensor) {
  if (tensor.device().is_cpu() || tensor.numel() == 0) return tensor;
  const auto* address = static_cast<const std::byte*>(tensor.const_data_ptr());
  return at::from_blob(memory().host + (address - memory().device), tensor.sizes(),
                       tensor.strides(), tensor.options().device(at::kCPU));
}

Tensor& copy(Tensor& to, const Tensor& from, bool) {
  if (to.numel() > 0) on_host(to).copy_(on_host(from));
  return to;
}

void on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  at::native::cpu_fallback(op, stack);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  made_up::Tensors<c10::DispatchKey::PrivateUse1, memory, copy>::implement(library);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
}

// How often a stream was waited for.
TORCH_LIBRARY(fake_device, library) {
  static Hooks hooks;
  at::RegisterPrivateUse1HooksInterface(&hooks);
  library.def("synchronized() -> int", [] { return synchronized.load(); });
}
