# A folder's sources are compiled as one, which takes a third of the time: what they include is read
# and instantiated once. So no two of them may give one name to different things of their own.

# tutti_unity(TARGET SOURCE ...): of these, those of a folder become one. CMake leaves out those that
# have options of their own.
function(tutti_unity target)
  if(NOT TUTTI_UNITY)
    return()
  endif()
  foreach(source ${ARGN})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP _${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
