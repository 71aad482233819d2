# libtutti_sycl.so (tutti_sycl.h), built if there are the headers of Level Zero. The compiler is a
# SYCL compiler, or that of the rest with SYCL's headers and runtime. The package intel-sycl-rt has
# these; PyTorch for XPU brings it along.
get_filename_component(python_prefix ${torch_root}/../../../.. ABSOLUTE)
find_program(TUTTI_SYCL_COMPILER NAMES icpx)
find_path(TUTTI_SYCL_HEADERS sycl/sycl.hpp HINTS ${python_prefix}/include)
find_library(TUTTI_SYCL_RUNTIME sycl HINTS ${python_prefix}/lib)
find_path(TUTTI_SYCL_LEVEL_ZERO level_zero/ze_api.h)
mark_as_advanced(TUTTI_SYCL_COMPILER TUTTI_SYCL_HEADERS TUTTI_SYCL_RUNTIME TUTTI_SYCL_LEVEL_ZERO)
if(TUTTI_SYCL_COMPILER)
  set(sycl_compiler ${TUTTI_SYCL_COMPILER} -fsycl)
  set(sycl_runtime)
else()
  set(sycl_compiler ${CMAKE_CXX_COMPILER} -DSYCL_DISABLE_FSYCL_SYCLHPP_WARNING
    -isystem ${TUTTI_SYCL_HEADERS})
  set(sycl_runtime ${TUTTI_SYCL_RUNTIME})
endif()
if(NOT TUTTI_SYCL_LEVEL_ZERO OR
    (NOT TUTTI_SYCL_COMPILER AND NOT (TUTTI_SYCL_HEADERS AND TUTTI_SYCL_RUNTIME)))
  message(STATUS "libtutti_sycl.so: not built, for want of icpx or sycl/sycl.hpp, or of "
    "level_zero/ze_api.h; tensors on XPU go through host memory")
  return()
endif()
# Headers and compilers of all versions meet here: where it does not compile, the package goes without.
set(tutti_sycl ${PROJECT_BINARY_DIR}/libtutti_sycl.so)
set(compile_sycl ${sycl_compiler} -std=c++17 -O2 -fPIC -shared -fvisibility=hidden
  -I${CMAKE_CURRENT_LIST_DIR}/../../include -I${TUTTI_SYCL_LEVEL_ZERO}
  ${CMAKE_CURRENT_LIST_DIR}/tutti_sycl.cpp ${sycl_runtime} -o ${tutti_sycl})
add_custom_command(OUTPUT ${tutti_sycl}.log
  COMMAND ${CMAKE_COMMAND} "-DCOMPILE=${compile_sycl}" -DLIBRARY=${tutti_sycl}
    -P ${CMAKE_CURRENT_LIST_DIR}/compile.cmake
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/tutti_sycl.cpp ${CMAKE_CURRENT_LIST_DIR}/tutti_sycl.h
    ${CMAKE_CURRENT_LIST_DIR}/compile.cmake VERBATIM)
add_custom_target(tutti_sycl ALL DEPENDS ${tutti_sycl}.log)
install(FILES ${tutti_sycl} DESTINATION ${library_folder} COMPONENT python OPTIONAL)
