# With TUTTI_PORTABLE, what packaging/manylinux/make.sh made there: links what is installed so that it
# runs on older systems. Nothing is compiled another way.
#
# Functions that are in libc.so.6 today were in libraries of their own, which are loaded for them.
add_link_options(-B${TUTTI_PORTABLE}
  -Wl,--exclude-libs,ALL,--gc-sections
  -Wl,--push-state,--no-as-needed,-l:libpthread.so.0,-l:libdl.so.2,-l:librt.so.1,--pop-state)

# The compiler looks there by itself, and programs must not: a stub runs nothing. CMake has the one
# fmt::fmt for a shared library, whose folder it would name in them.
list(APPEND CMAKE_C_IMPLICIT_LINK_DIRECTORIES ${TUTTI_PORTABLE})
list(APPEND CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES ${TUTTI_PORTABLE})

# What a system may lack is inside.
function(tutti_link_inside)
  foreach(name hwloc sodium)
    set_target_properties(PkgConfig::${name} PROPERTIES
      INTERFACE_LINK_LIBRARIES ${TUTTI_PORTABLE}/lib${name}.a)
  endforeach()
  string(TOUPPER ${CMAKE_BUILD_TYPE} type)
  set_target_properties(fmt::fmt PROPERTIES IMPORTED_LOCATION_${type} ${TUTTI_PORTABLE}/libfmt.a)
endfunction()
