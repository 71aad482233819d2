# The target tutti::tutti, and the installation of the library, the command and all that goes with
# them to the package's prefix. `library_folder` says where the library is there, `built` where it
# is before.
if(TUTTI_BUILD)
  cmake_path(ABSOLUTE_PATH TUTTI_BUILD BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/.. NORMALIZE)
  load_cache(${TUTTI_BUILD} READ_WITH_PREFIX built_ CMAKE_INSTALL_LIBDIR)
  set(library_folder ${built_CMAKE_INSTALL_LIBDIR})
  set(built ${TUTTI_BUILD})
  add_library(tutti::tutti SHARED IMPORTED)
  set_target_properties(tutti::tutti PROPERTIES IMPORTED_LOCATION ${TUTTI_BUILD}/libtutti.so
    INTERFACE_INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/../include)
  # Without debug information, which is nine tenths of it.
  foreach(component Unspecified oneccl_names)
    install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" --install \"${TUTTI_BUILD}\" --strip
      --component ${component} --prefix \"\${CMAKE_INSTALL_PREFIX}\" COMMAND_ERROR_IS_FATAL ANY)"
      COMPONENT python)
  endforeach()
else()
  set(library_folder lib)
  set(built ${PROJECT_BINARY_DIR}/tutti)
  set(CMAKE_INSTALL_LIBDIR ${library_folder})
  set(TUTTI_TOOLS ON CACHE BOOL "")
  add_subdirectory(.. tutti)
endif()

# A wheel cannot hold links. This is the linker's way to say the same.
file(WRITE ${PROJECT_BINARY_DIR}/libtutti.so "INPUT(libtutti.so.1)\n")
install(FILES ${PROJECT_BINARY_DIR}/libtutti.so DESTINATION ${library_folder} COMPONENT python)
