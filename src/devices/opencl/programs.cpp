// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Kernels for a device, from the user's cache, from SPIR-V, or from their source.
#include "core/hash.hpp"
#include "core/log.hpp"
#include "devices/kernel_cache.hpp"
#include "devices/opencl/context.hpp"

namespace tutti::devices::opencl {
namespace {

constexpr uint32_t kIntel = 0x8086;

struct Recipe {
  std::string options;
  std::string key;  // all that the binary depends on
};

Recipe recipe_for(const Context& context, DataType type, DeviceVariant variant) {
  const DeviceFacts& facts = context.facts();
  const bool spirv = context.device().takes_spirv;
  Recipe recipe;
  recipe.options = "-cl-std=CL1.2 " + device_options(type, variant);
  if (spirv) recipe.options.clear();
  const auto kind = value_of<cl_device_type>(context.cl(), context.device().id, CL_DEVICE_TYPE);
  if (facts.vendor_id == kIntel && kind == CL_DEVICE_TYPE_GPU) {
    recipe.options += " -cl-intel-greater-than-4GB-buffer-required";
  }
  const std::span<const uint8_t> module = device_spirv(type, variant);
  const std::string_view content =
      spirv ? std::string_view(reinterpret_cast<const char*>(module.data()), module.size())
            : device_source();
  recipe.key = fmt::format("OpenCL; {}; {}; {}; {:016x}\n", facts.driver, facts.name,
                           recipe.options, hash_of(content));
  return recipe;
}

Status build(const Context& context, cl_program program, const std::string& options) {
  cl_device_id device = context.device().id;
  const Library& cl = context.cl();
  const cl_int error = cl.clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr);
  if (error == CL_SUCCESS) return {};
  size_t bytes = 0;
  cl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  std::string text(bytes, '\0');
  cl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, text.data(), nullptr);
  log::info("{}: the compiler says: {}", context.name(), text.c_str());
  return failed(error, "clBuildProgram").with_context(context.name());
}

std::vector<unsigned char> binary_of(const Library& cl, cl_program program) {
  size_t bytes = 0;
  if (cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr) !=
      CL_SUCCESS) {
    return {};
  }
  std::vector<unsigned char> binary(bytes);
  unsigned char* to = binary.data();
  const cl_int error =
      cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(unsigned char*), &to, nullptr);
  return error == CL_SUCCESS ? binary : std::vector<unsigned char>();
}

// Null if the driver does not take it.
cl_program from_binary(const Context& context, const std::vector<unsigned char>& binary) {
  const Library& cl = context.cl();
  cl_device_id device = context.device().id;
  const size_t bytes = binary.size();
  const unsigned char* data = binary.data();
  cl_int taken = CL_SUCCESS;
  cl_int error = CL_SUCCESS;
  cl_program const program =
      cl.clCreateProgramWithBinary(context.handle(), 1, &device, &bytes, &data, &taken, &error);
  if (error != CL_SUCCESS) return nullptr;
  if (taken == CL_SUCCESS && build(context, program, "").ok()) return program;
  cl.clReleaseProgram(program);
  return nullptr;
}

Result<cl_program> from_text(const Context& context, DataType type, DeviceVariant variant,
                             const std::string& options) {
  const Library& cl = context.cl();
  cl_int error = CL_SUCCESS;
  cl_program program = nullptr;
  if (context.device().takes_spirv) {
    const std::span<const uint8_t> module = device_spirv(type, variant);
    program = cl.clCreateProgramWithIL(context.handle(), module.data(), module.size(), &error);
    if (error != CL_SUCCESS) return failed(error, "clCreateProgramWithIL");
  } else {
    const char* text = device_source().data();
    const size_t length = device_source().size();
    program = cl.clCreateProgramWithSource(context.handle(), 1, &text, &length, &error);
    if (error != CL_SUCCESS) return failed(error, "clCreateProgramWithSource");
  }
  const Status built = build(context, program, options);
  if (built.ok()) return program;
  cl.clReleaseProgram(program);
  return built;
}

}  // namespace

Result<cl_program> build_program(const Context& context, DataType type, DeviceVariant variant) {
  if (type == DataType::kFloat64 && !context.facts().fp64) {
    return Status::format(Code::kUnsupported, "{} has no float64", context.name());
  }
  if (context.facts().kernels.empty()) {
    return Status::format(Code::kUnsupported, "{} takes neither SPIR-V nor source", context.name());
  }
  const KernelCache cache = KernelCache::of_user();
  const Recipe recipe = recipe_for(context, type, variant);
  if (const auto binary = cache.read(recipe.key)) {
    if (cl_program const program = from_binary(context, *binary)) return program;
  }
  Result<cl_program> program = from_text(context, type, variant, recipe.options);
  if (program.ok()) cache.write(recipe.key, binary_of(context.cl(), *program));
  return program;
}

}  // namespace tutti::devices::opencl
