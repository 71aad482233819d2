# nanobind of the interpreter that is built for, which makes the extension tutti_ccl._core.
if(NOT nanobind_DIR)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_DIR OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_VARIABLE nanobind_error RESULT_VARIABLE nanobind_missing)
  if(nanobind_missing)
    message(FATAL_ERROR "nanobind was not found; pip install nanobind.\n${nanobind_error}")
  endif()
endif()
find_package(nanobind CONFIG REQUIRED)
