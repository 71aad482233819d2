# find_package(oneCCL): the target oneCCL::ccl, also under the names CCL::ccl and oneCCL.
get_filename_component(_oneccl_root "${CMAKE_CURRENT_LIST_DIR}/../../.." REALPATH)
if(NOT TARGET oneCCL::ccl)
  add_library(oneCCL::ccl SHARED IMPORTED)
  set_target_properties(oneCCL::ccl PROPERTIES
    IMPORTED_LOCATION "${_oneccl_root}/lib/libccl.so.2"
    IMPORTED_SONAME libccl.so.2
    INTERFACE_INCLUDE_DIRECTORIES "${_oneccl_root}/include")
  foreach(_oneccl_alias CCL::ccl oneCCL)
    if(NOT TARGET ${_oneccl_alias})
      add_library(${_oneccl_alias} INTERFACE IMPORTED)
      set_target_properties(${_oneccl_alias} PROPERTIES INTERFACE_LINK_LIBRARIES oneCCL::ccl)
    endif()
  endforeach()
  unset(_oneccl_alias)
endif()
set(ONECCL_ROOT "${_oneccl_root}")
unset(_oneccl_root)
