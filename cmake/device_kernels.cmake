# The kernels of devices (kernels/device/): the source, and where clang-15 and llvm-spirv-15 are found a
# module of SPIR-V for each type and variant, all put into the library as they are. Two steps, since
# clang's own way to SPIR-V gives a version that drivers may not take; spirv-val, if found, has the last
# word.
enable_language(ASM)
find_program(TUTTI_OPENCL_CLANG NAMES clang-15)
find_program(TUTTI_LLVM_SPIRV NAMES llvm-spirv-15)
find_program(TUTTI_SPIRV_VAL NAMES spirv-val)
mark_as_advanced(TUTTI_OPENCL_CLANG TUTTI_LLVM_SPIRV TUTTI_SPIRV_VAL)

set(device_folder ${PROJECT_BINARY_DIR}/kernels/device)
set(device_source ${PROJECT_SOURCE_DIR}/kernels/device/reduce.cl)
# name in tutti.h, its name in core/types.hpp, bytes
set(device_types
  int8 Int8 1 uint8 Uint8 1 int16 Int16 2 uint16 Uint16 2 int32 Int32 4 uint32 Uint32 4
  int64 Int64 8 uint64 Uint64 8 float16 Float16 2 bfloat16 Bfloat16 2 float32 Float32 4
  float64 Float64 8 float8_e4m3 Float8E4M3 1 float8_e5m2 Float8E5M2 1)

set(device_modules)
set(device_table "")
set(device_labels "")
set(device_assembly "")

# Puts the file between the labels NAME and NAME_end.
function(tutti_embed name file)
  string(APPEND device_assembly
    "  .globl ${name}\n  .hidden ${name}\n  .balign 16\n${name}:\n  .incbin \"${file}\"\n"
    "  .globl ${name}_end\n  .hidden ${name}_end\n${name}_end:\n  .byte 0\n")
  set(device_assembly "${device_assembly}" PARENT_SCOPE)
endfunction()

# tutti_device_module(type variant enumerator options...)
function(tutti_device_module type variant enumerator)
  set(module ${device_folder}/${type}_${variant})
  set(validate)
  if(TUTTI_SPIRV_VAL)
    set(validate COMMAND ${TUTTI_SPIRV_VAL} --target-env opencl2.2 ${module}.spv)
  endif()
  add_custom_command(OUTPUT ${module}.spv
    COMMAND ${TUTTI_OPENCL_CLANG} -target spir64-unknown-unknown -cl-std=CL1.2 -O2
      -Xclang -finclude-default-header -Xclang -cl-ext=-all,+cl_khr_fp64 -DTYPE_${type} ${ARGN}
      -emit-llvm -c ${device_source} -o ${module}.bc
    COMMAND ${TUTTI_LLVM_SPIRV} --spirv-max-version=1.2 --spirv-ext=+SPV_INTEL_subgroups
      ${module}.bc -o ${module}.spv
    ${validate}
    DEPENDS ${device_source} VERBATIM COMMENT "Compiling device kernels of ${type}, ${variant}")
  tutti_embed(device_kernels_${type}_${variant} ${module}.spv)
  set(device_assembly "${device_assembly}" PARENT_SCOPE)
  set(device_modules ${device_modules} ${module}.spv PARENT_SCOPE)
  string(APPEND device_labels "extern \"C\" const uint8_t device_kernels_${type}_${variant}[];\n"
    "extern \"C\" const uint8_t device_kernels_${type}_${variant}_end[];\n")
  set(device_labels "${device_labels}" PARENT_SCOPE)
  string(APPEND device_table "  {DataType::k${enumerator}, DeviceVariant::k${variant},\n"
    "   device_kernels_${type}_${variant}, device_kernels_${type}_${variant}_end},\n")
  set(device_table "${device_table}" PARENT_SCOPE)
endfunction()

tutti_embed(device_kernels_source ${device_source})
if(TUTTI_OPENCL_CLANG AND TUTTI_LLVM_SPIRV)
  set(rest ${device_types})
  while(rest)
    list(POP_FRONT rest type enumerator bytes)
    math(EXPR width "16 / ${bytes}")
    tutti_device_module(${type} Scalar ${enumerator} -DWIDTH=1)
    tutti_device_module(${type} Vector ${enumerator} -DWIDTH=${width})
    tutti_device_module(${type} Block ${enumerator} -DWIDTH=${width} -DBLOCKS)
  endwhile()
  message(STATUS "Device kernels: SPIR-V and source")
else()
  message(STATUS "Device kernels: source only (no clang-15 or llvm-spirv-15)")
endif()
file(CONFIGURE OUTPUT ${device_folder}/device_modules.S CONTENT
  "#ifdef __CET__\n#include <cet.h>\n#endif\n  .section .rodata\n${device_assembly}  .section .note.GNU-stack,\"\",%progbits\n" @ONLY)
file(CONFIGURE OUTPUT ${device_folder}/device_modules.inc @ONLY CONTENT
  "${device_labels}const Module kModules[] = {\n${device_table}  {},\n};\n")
set_source_files_properties(${device_folder}/device_modules.S PROPERTIES
  OBJECT_DEPENDS "${device_modules};${device_source}")
set_source_files_properties(kernels/device/modules.cpp PROPERTIES
  INCLUDE_DIRECTORIES ${device_folder} OBJECT_DEPENDS ${device_folder}/device_modules.inc)
