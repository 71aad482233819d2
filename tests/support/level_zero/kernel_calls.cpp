// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// zeKernel*.
#include <cstring>

#include "support/level_zero/calls.hpp"
#include "support/level_zero/device.hpp"
#include "support/level_zero/entry.hpp"
#include "support/level_zero/module.hpp"
#include "support/level_zero/switches.hpp"

namespace tutti_test::ze {

namespace {

ze_result_t create(ze_module_handle_t module, const ze_kernel_desc_t* desc,
                   ze_kernel_handle_t* kernel) {
  require(desc && kernel && desc->pKernelName, ZE_RESULT_ERROR_INVALID_NULL_POINTER,
          "no description, no name, or no place");
  check_structure(desc);
  const KernelInfo* info = module->info.find(desc->pKernelName);
  require(info && has_kernel(*module->program, info->name), ZE_RESULT_ERROR_INVALID_KERNEL_NAME,
          "the module has no such kernel");
  *kernel = new _ze_kernel_handle_t(module, *info);
  return ZE_RESULT_SUCCESS;
}

ze_result_t destroy(ze_kernel_handle_t kernel) {
  if (*kernel->commands != 0) complain("a kernel is destroyed while commands launch it");
  delete kernel;
  return ZE_RESULT_SUCCESS;
}

ze_result_t set_size(ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z) {
  const uint32_t size[3] = {x, y, z};
  uint64_t items = 1;
  for (size_t i = 0; i < 3; i++) {
    const uint32_t required = kernel->info.required_size[i];
    require(size[i] > 0 && size[i] <= kMostItemsInGroup && (required == 0 || required == size[i]),
            ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, "no such size of a group");
    items *= size[i];
  }
  const auto most = static_cast<uint64_t>(switches().group_of_kernels);
  require(items <= std::min<uint64_t>(kMostItemsInGroup, most),
          ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, "the group is too large");
  std::memcpy(kernel->size, size, sizeof size);
  return ZE_RESULT_SUCCESS;
}

ze_result_t suggest_size(ze_kernel_handle_t, uint32_t x, uint32_t, uint32_t, uint32_t* size_x,
                         uint32_t* size_y, uint32_t* size_z) {
  require(size_x && size_y && size_z, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no place");
  require(x > 0, ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION, "no items");
  *size_x = *size_y = *size_z = 1;
  while (*size_x < 64 && x % (*size_x * 2) == 0) *size_x *= 2;
  return ZE_RESULT_SUCCESS;
}

Argument pointer_argument(ze_kernel_handle_t kernel, const void* value) {
  Argument argument{Argument::Kind::kPointer, {}, nullptr, 0};
  if (value) std::memcpy(&argument.pointer, value, sizeof(void*));
  if (argument.pointer) {
    find_place(kernel->module->context, kernel->module->device, argument.pointer, 0);
  }
  return argument;
}

Argument make_argument(ze_kernel_handle_t kernel, const Parameter& parameter, size_t bytes,
                       const void* value) {
  if (parameter.kind == Parameter::Kind::kLocal) {
    require(bytes > 0 && !value, ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
            "memory of a group has a size and no value");
    return {Argument::Kind::kLocal, {}, nullptr, bytes};
  }
  require(parameter.kind != Parameter::Kind::kOther && bytes == parameter.bytes,
          ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, "the argument has another size");
  if (parameter.kind == Parameter::Kind::kPointer) return pointer_argument(kernel, value);
  require(value != nullptr, ZE_RESULT_ERROR_INVALID_ARGUMENT, "a value is missing");
  const auto* const first = static_cast<const uint8_t*>(value);
  return {Argument::Kind::kValue, {first, first + bytes}, nullptr, 0};
}

ze_result_t set_argument(ze_kernel_handle_t kernel, uint32_t index, size_t bytes,
                         const void* value) {
  require(index < kernel->arguments.size(), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
          "the kernel has fewer arguments");
  kernel->arguments[index] = make_argument(kernel, kernel->info.parameters[index], bytes, value);
  kernel->memory[index] = find_memory(kernel->arguments[index].pointer);
  return ZE_RESULT_SUCCESS;
}

ze_result_t set_indirect(ze_kernel_handle_t, ze_kernel_indirect_access_flags_t) {
  return ZE_RESULT_SUCCESS;
}

ze_result_t set_cache(ze_kernel_handle_t, ze_cache_config_flags_t) { return ZE_RESULT_SUCCESS; }

ze_result_t get_properties(ze_kernel_handle_t kernel, ze_kernel_properties_t* properties) {
  ze_kernel_properties_t made{};
  made.numKernelArgs = static_cast<uint32_t>(kernel->arguments.size());
  made.requiredGroupSizeX = kernel->info.required_size[0];
  made.requiredGroupSizeY = kernel->info.required_size[1];
  made.requiredGroupSizeZ = kernel->info.required_size[2];
  made.maxSubgroupSize = 1;
  made.maxNumSubgroups = kMostItemsInGroup;
  return_properties(properties, made);
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_name(ze_kernel_handle_t kernel, size_t* bytes, char* name) {
  require(bytes != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no place for the size");
  const std::string& text = kernel->info.name;
  if (name) {
    require(*bytes > text.size(), ZE_RESULT_ERROR_INVALID_SIZE, "the place is too small");
    std::memcpy(name, text.c_str(), text.size() + 1);
  }
  *bytes = text.size() + 1;
  return ZE_RESULT_SUCCESS;
}

}  // namespace

void fill(ze_kernel_dditable_t* table) {
  table->pfnCreate = entry<create>("zeKernelCreate");
  table->pfnDestroy = entry<destroy>("zeKernelDestroy");
  table->pfnSetGroupSize = entry<set_size>("zeKernelSetGroupSize");
  table->pfnSuggestGroupSize = entry<suggest_size>("zeKernelSuggestGroupSize");
  table->pfnSetArgumentValue = entry<set_argument>("zeKernelSetArgumentValue");
  table->pfnSetIndirectAccess = entry<set_indirect>("zeKernelSetIndirectAccess");
  table->pfnSetCacheConfig = entry<set_cache>("zeKernelSetCacheConfig");
  table->pfnGetProperties = entry<get_properties>("zeKernelGetProperties");
  table->pfnGetName = entry<get_name>("zeKernelGetName");
}

}  // namespace tutti_test::ze
