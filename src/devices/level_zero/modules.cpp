// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Kernels for a device, from the user's cache or from SPIR-V.
#include "core/hash.hpp"
#include "core/log.hpp"
#include "devices/kernel_cache.hpp"
#include "devices/level_zero/context.hpp"

namespace tutti::devices::level_zero {
namespace {

// Buffers may be larger than what 32 bits address.
constexpr const char* kOptions = "-ze-opt-greater-than-4GB-buffer-required";

std::string key_of(const Context& context, std::span<const uint8_t> spirv) {
  const std::string_view content(reinterpret_cast<const char*>(spirv.data()), spirv.size());
  return fmt::format("Level Zero; {}; {}; {}; {:016x}\n", context.facts().driver,
                     context.facts().name, kOptions, hash_of(content));
}

std::string take_log(const Library& ze, ze_module_build_log_handle_t log) {
  if (log == nullptr) return "";
  size_t bytes = 0;
  std::string text;
  if (ze.zeModuleBuildLogGetString(log, &bytes, nullptr) == ZE_RESULT_SUCCESS && bytes > 0) {
    text.resize(bytes);
    ze.zeModuleBuildLogGetString(log, &bytes, text.data());
  }
  ze.zeModuleBuildLogDestroy(log);
  return text.c_str();
}

Result<ze_module_handle_t> build(const Context& context, ze_module_format_t format,
                                 std::span<const uint8_t> input) {
  const Library& ze = context.ze();
  const ze_module_desc_t desc{ZE_STRUCTURE_TYPE_MODULE_DESC,
                              nullptr,
                              format,
                              input.size(),
                              input.data(),
                              kOptions,
                              nullptr};
  ze_module_handle_t module = nullptr;
  ze_module_build_log_handle_t log = nullptr;
  const ze_result_t result =
      ze.zeModuleCreate(context.handle(), context.device().id, &desc, &module, &log);
  const std::string text = take_log(ze, log);
  if (result == ZE_RESULT_SUCCESS) return module;
  if (!text.empty()) log::info("{}: the compiler says: {}", context.name(), text);
  return failed(result, "zeModuleCreate").with_context(context.name());
}

std::vector<unsigned char> binary_of(const Library& ze, ze_module_handle_t module) {
  size_t bytes = 0;
  if (ze.zeModuleGetNativeBinary(module, &bytes, nullptr) != ZE_RESULT_SUCCESS) return {};
  std::vector<unsigned char> binary(bytes);
  if (ze.zeModuleGetNativeBinary(module, &bytes, binary.data()) != ZE_RESULT_SUCCESS) return {};
  return binary;
}

}  // namespace

Result<ze_module_handle_t> build_module(const Context& context, DataType type,
                                        DeviceVariant variant) {
  if (type == DataType::kFloat64 && !context.facts().fp64) {
    return Status::format(Code::kUnsupported, "{} has no float64", context.name());
  }
  const std::span<const uint8_t> spirv = device_spirv(type, variant);
  if (context.facts().kernels.empty() || spirv.empty()) {
    return Status::format(Code::kUnsupported, "{}: there are no kernels in SPIR-V for it",
                          context.name());
  }
  const KernelCache cache = KernelCache::of_user();
  const std::string key = key_of(context, spirv);
  if (const auto binary = cache.read(key)) {
    Result<ze_module_handle_t> module = build(context, ZE_MODULE_FORMAT_NATIVE, *binary);
    if (module.ok()) return module;
  }
  Result<ze_module_handle_t> module = build(context, ZE_MODULE_FORMAT_IL_SPIRV, spirv);
  if (module.ok()) cache.write(key, binary_of(context.ze(), *module));
  return module;
}

}  // namespace tutti::devices::level_zero
