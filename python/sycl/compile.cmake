# Makes LIBRARY by the command COMPILE, and LIBRARY.log of what that says. If it fails there is no
# library, and one line that says so.
file(REMOVE ${LIBRARY})
execute_process(COMMAND ${COMPILE} RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
file(WRITE ${LIBRARY}.log "${said}\n")
if(NOT failed EQUAL 0)
  file(REMOVE ${LIBRARY})
  message(STATUS "libtutti_sycl.so: not built, as it does not compile here (${LIBRARY}.log); "
    "tensors on XPU go through host memory")
endif()
