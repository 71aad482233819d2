// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// zeModule*. A native binary is the module's SPIR-V with a line before it that names the driver.
#include "support/level_zero/module.hpp"

#include <cstring>

#include "support/level_zero/calls.hpp"
#include "support/level_zero/device.hpp"
#include "support/level_zero/entry.hpp"
#include "support/level_zero/switches.hpp"

namespace tutti_test::ze {

namespace {

constexpr char kNative[] = "tutti test device, native\n";
constexpr size_t kNativeBytes = sizeof kNative - 1;

std::vector<uint8_t> spirv_of(const ze_module_desc_t& desc) {
  const uint8_t* begin = desc.pInputModule;
  const uint8_t* const end = begin + desc.inputSize;
  if (desc.format == ZE_MODULE_FORMAT_NATIVE) {
    require(desc.inputSize > kNativeBytes && std::memcmp(begin, kNative, kNativeBytes) == 0,
            ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, "not a binary of this driver");
    begin += kNativeBytes;
  } else {
    require(desc.format == ZE_MODULE_FORMAT_IL_SPIRV, ZE_RESULT_ERROR_INVALID_ENUMERATION,
            "no such format");
  }
  return {begin, end};
}

// Why the devices do not take it; empty if they do.
std::string refused_for(const ModuleInfo& info) {
  if (switches().fail_build) return "modules are refused";
  if (info.fp64 && switches().no_fp64) return "the device has no 64-bit floats";
  if (info.subgroup_blocks) return "the device has no block reads of sub-groups";
  if (info.version > 0x00010000) return "SPIR-V is newer than 1.0";
  return "";
}

std::string build(_ze_module_handle_t& module) {
  const std::optional<ModuleInfo> info = read_spirv(module.spirv);
  if (!info) return "this is no SPIR-V";
  module.info = *info;
  std::string why = refused_for(*info);
  if (why.empty()) module.program = build_program(module.spirv, &why);
  return why;
}

ze_result_t create(ze_context_handle_t context, ze_device_handle_t device,
                   const ze_module_desc_t* desc, ze_module_handle_t* module,
                   ze_module_build_log_handle_t* log) {
  require(device != nullptr, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "no device");
  require(desc && module && desc->pInputModule, ZE_RESULT_ERROR_INVALID_NULL_POINTER,
          "no description, no input, or no place");
  check_structure(desc);
  require(!desc->pConstants || desc->pConstants->numConstants == 0,
          ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "specialization constants are not supported");
  auto made = std::make_unique<_ze_module_handle_t>();
  made->context = context;
  made->device = device;
  made->spirv = spirv_of(*desc);
  const std::string why = build(*made);
  if (log) *log = new _ze_module_build_log_handle_t(why);
  require(why.empty(), ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, why.c_str());
  *module = made.release();
  return ZE_RESULT_SUCCESS;
}

ze_result_t destroy(ze_module_handle_t module) {
  require(module->kernels == 0, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "its kernels live");
  delete module;
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_binary(ze_module_handle_t module, size_t* bytes, uint8_t* binary) {
  require_full("there are no native binaries");
  require(bytes != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no place for the size");
  if (binary) {
    require(*bytes >= kNativeBytes + module->spirv.size(), ZE_RESULT_ERROR_INVALID_SIZE,
            "the place is too small");
    std::memcpy(binary, kNative, kNativeBytes);
    std::memcpy(binary + kNativeBytes, module->spirv.data(), module->spirv.size());
  }
  *bytes = kNativeBytes + module->spirv.size();
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_names(ze_module_handle_t module, uint32_t* count, const char** names) {
  return_list(static_cast<uint32_t>(module->info.kernels.size()), count, names,
              [&](const char*& name, uint32_t i) { name = module->info.kernels[i].name.c_str(); });
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_properties(ze_module_handle_t, ze_module_properties_t* properties) {
  return_properties(properties, ze_module_properties_t{});
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_text(ze_module_build_log_handle_t log, size_t* bytes, char* text) {
  require(bytes != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no place for the size");
  if (text) {
    require(*bytes > log->text.size(), ZE_RESULT_ERROR_INVALID_SIZE, "the place is too small");
    std::memcpy(text, log->text.c_str(), log->text.size() + 1);
  }
  *bytes = log->text.size() + 1;
  return ZE_RESULT_SUCCESS;
}

ze_result_t destroy_log(ze_module_build_log_handle_t log) {
  delete log;
  return ZE_RESULT_SUCCESS;
}

}  // namespace

void fill(ze_module_dditable_t* table) {
  table->pfnCreate = entry<create>("zeModuleCreate");
  table->pfnDestroy = entry<destroy>("zeModuleDestroy");
  table->pfnGetNativeBinary = entry<get_binary>("zeModuleGetNativeBinary");
  table->pfnGetKernelNames = entry<get_names>("zeModuleGetKernelNames");
  table->pfnGetProperties = entry<get_properties>("zeModuleGetProperties");
}

void fill(ze_module_build_log_dditable_t* table) {
  table->pfnGetString = entry<get_text>("zeModuleBuildLogGetString");
  table->pfnDestroy = entry<destroy_log>("zeModuleBuildLogDestroy");
}

}  // namespace tutti_test::ze
