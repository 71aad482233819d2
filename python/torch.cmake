# The target torch_for_extensions: PyTorch of the interpreter that is built for. Its own
# TorchConfig.cmake looks for compilers and libraries that a CPU extension has no use for.
execute_process(COMMAND ${Python_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/build_backend/tutti_torch.py
  OUTPUT_VARIABLE torch_facts OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_VARIABLE torch_error RESULT_VARIABLE torch_missing)
if(torch_missing)
  message(FATAL_ERROR " ${torch_error}")
endif()
list(GET torch_facts 0 torch_root)
list(GET torch_facts 1 TORCH_VERSION)
list(GET torch_facts 2 torch_folder)
string(REGEX REPLACE "[+].*" "" TORCH_PUBLIC_VERSION "${TORCH_VERSION}")
message(STATUS "Building against PyTorch ${TORCH_VERSION} in ${torch_root}")

add_library(torch_for_extensions INTERFACE)
target_include_directories(torch_for_extensions SYSTEM INTERFACE
  ${torch_root}/include ${torch_root}/include/torch/csrc/api/include)
target_link_libraries(torch_for_extensions INTERFACE
  ${torch_root}/lib/libc10.so ${torch_root}/lib/libtorch_cpu.so ${torch_root}/lib/libtorch_python.so)
# c10d's headers hide what is not built in; these say what a Linux build has.
target_compile_definitions(torch_for_extensions INTERFACE USE_C10D USE_DISTRIBUTED)
