# The test driver for Level Zero: libtutti_test_ze.so, which the loader opens by ZE_ENABLE_ALT_DRIVERS.
if(NOT TUTTI_LEVEL_ZERO_HEADERS OR NOT TUTTI_OPENCL_HEADERS)
  message(STATUS "Test driver for Level Zero: not built, for want of level_zero/ze_ddi.h or CL/cl_ext.h "
    "(Debian: libze-dev, opencl-c-headers)")
  return()
endif()
file(GLOB level_zero_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
add_library(tutti_test_ze SHARED ${level_zero_sources})
target_link_libraries(tutti_test_ze PRIVATE tutti_options Threads::Threads ${CMAKE_DL_LIBS})
target_include_directories(tutti_test_ze PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_include_directories(tutti_test_ze SYSTEM PRIVATE
  ${TUTTI_LEVEL_ZERO_HEADERS} ${TUTTI_OPENCL_HEADERS})
tutti_precompile(tutti_test_ze)
# Its threads may run until the process ends: the loader must not unmap it before.
target_link_options(tutti_test_ze PRIVATE -Wl,-z,nodelete)
message(STATUS "Test driver for Level Zero: built")

# Modules for its tests.
set(level_zero_modules)
foreach(module kernels doubles)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/level_zero/${module}.cl)
  set(built ${CMAKE_CURRENT_BINARY_DIR}/level_zero_modules/${module})
  add_custom_command(OUTPUT ${built}.spv
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/level_zero_modules
    COMMAND ${TUTTI_OPENCL_CLANG} -target spir64-unknown-unknown -cl-std=CL1.2 -O2
      -Xclang -finclude-default-header -emit-llvm -c ${source} -o ${built}.bc
    COMMAND ${TUTTI_LLVM_SPIRV} --spirv-max-version=1.2 ${built}.bc -o ${built}.spv
    DEPENDS ${source} VERBATIM)
  list(APPEND level_zero_modules ${built}.spv)
endforeach()
