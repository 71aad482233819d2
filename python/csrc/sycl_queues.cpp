// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "sycl_queues.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <torch/version.h>

#include <array>

#include "../sycl/tutti_sycl.h"

namespace tutti_torch::sycl_queues {
namespace {

constexpr const char* kFile = "libtutti_sycl.so";

using Function = decltype(&tutti_sycl_queue);

// In the package's folder of libraries, or wherever the system looks. Never closed.
Function found() {
  static const Function function = []() -> Function {
    void* const library = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    return reinterpret_cast<Function>(dlsym(library, "tutti_sycl_queue"));
  }();
  return function;
}

}  // namespace

#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 13
bool known() { return found() != nullptr; }

void* current(c10::Device device) {
  const c10::impl::VirtualGuardImpl guard(device.type());
  return guard.getStreamNativeHandle(guard.getStream(device));  // a sycl::queue*
}
#else  // PyTorch does not say what a stream is
bool known() { return false; }
void* current(c10::Device) { return nullptr; }
#endif

tutti_queue native(void* stream) {
  tutti_queue queue = TUTTI_QUEUE_INIT;
  std::array<char, 300> why{};
  TORCH_CHECK(found()(stream, &queue, why.data(), why.size()) == 0, "ccl: ", kFile,
              " does not know the handles of the SYCL queue ", stream, ": ", why.data());
  return queue;
}

}  // namespace tutti_torch::sycl_queues
