// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/level_zero/kernels.hpp"

#include <algorithm>

namespace tutti::devices::level_zero {
namespace {

// The most prepared kernels of one name, so that a program which takes turns with a few calls finds
// each prepared.
constexpr size_t kMostPrepared = 8;

}  // namespace

Kernels::~Kernels() {
  for (const auto& [name, set] : sets_) {
    for (const Prepared& prepared : set) context_.ze().zeKernelDestroy(prepared.ready.kernel);
  }
}

// Drivers may refuse some kernels in groups as large as the device takes.
Result<Kernels::Ready> Kernels::make(const DeviceKernel& name) {
  TUTTI_ASSIGN_OR_RETURN(ze_module_handle_t module, context_.module(name.type, name.variant));
  const Library& ze = context_.ze();
  const ze_kernel_desc_t desc{ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, name.name.data()};
  ze_kernel_handle_t kernel = nullptr;
  TUTTI_LEVEL_ZERO_CALL(ze, zeKernelCreate, module, &desc, &kernel);
  ze_result_t result = ZE_RESULT_ERROR_UNKNOWN;
  for (uint32_t size = context_.device().group_size; size > 0; size /= 2) {
    result = ze.zeKernelSetGroupSize(kernel, size, 1, 1);
    if (result == ZE_RESULT_SUCCESS) return Ready{kernel, size};
  }
  ze.zeKernelDestroy(kernel);
  return failed(result, "zeKernelSetGroupSize");
}

Result<Kernels::Prepared*> Kernels::choose(const DeviceKernel& name, Set& set,
                                           const std::vector<Argument>& arguments) {
  for (Prepared& prepared : set) {
    if (prepared.arguments == arguments &&
        std::ranges::all_of(prepared.set, [](bool is_set) { return is_set; })) {
      return &prepared;
    }
  }
  if (set.size() == kMostPrepared) return &*std::ranges::min_element(set, {}, &Prepared::used);
  TUTTI_ASSIGN_OR_RETURN(Ready made, make(name));
  set.push_back(
      {made, std::vector<Argument>(arguments.size()), std::vector<bool>(arguments.size()), 0});
  return &set.back();
}

Status Kernels::give(Prepared& prepared, const std::vector<Argument>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (prepared.set[i] && prepared.arguments[i] == argument) continue;
    prepared.set[i] = false;
    const bool null = argument.size == 0;
    TUTTI_LEVEL_ZERO_CALL(context_.ze(), zeKernelSetArgumentValue, prepared.ready.kernel,
                          static_cast<uint32_t>(i), null ? sizeof(void*) : argument.size,
                          null ? nullptr : argument.bytes.data());
    prepared.arguments[i] = argument;
    prepared.set[i] = true;
  }
  return {};
}

Result<Kernels::Ready> Kernels::get(const DeviceKernel& name,
                                    const std::vector<Argument>& arguments) {
  TUTTI_ASSIGN_OR_RETURN(auto* const prepared, choose(name, sets_[name], arguments));
  TUTTI_RETURN_IF_ERROR(give(*prepared, arguments));
  prepared->used = ++calls_;
  return prepared->ready;
}

}  // namespace tutti::devices::level_zero
