# Installation: the library, its headers, find_package(tutti), pkg-config.
install(TARGETS tutti EXPORT tutti-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT namelink)
install(DIRECTORY include/tutti DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tutti-targets NAMESPACE tutti::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tutti)
write_basic_package_version_file(tutti-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tutti-config-version.cmake cmake/tutti-config.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tutti)
# Relative, so that the tree may be installed to another prefix than configured, or moved.
file(RELATIVE_PATH pkgconfig_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
list(JOIN static_libraries " " static_libraries_of_pc)
configure_file(cmake/tutti.pc.in tutti.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tutti.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# What users source, under both names that oneCCL has, and the same as a modulefile.
set(root_from_env ..)
configure_file(env/vars.sh vars.sh @ONLY)
configure_file(env/modulefile modulefile @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/vars.sh DESTINATION env)
install(FILES ${PROJECT_BINARY_DIR}/vars.sh DESTINATION env RENAME setvars.sh)
install(FILES ${PROJECT_BINARY_DIR}/modulefile DESTINATION modulefiles RENAME tutti)

# What watches jobs from outside: rules and a dashboard for metrics, a unit, scripts for the probes.
install(DIRECTORY packaging/monitoring/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti/monitoring
  COMPONENT doc)
install(DIRECTORY tools/bpftrace DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti
  COMPONENT doc USE_SOURCE_PERMISSIONS)

# What one reads.
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc
  PATTERN __pycache__ EXCLUDE)

# All that is installed, and nothing else.
add_custom_target(tutti_installed DEPENDS tutti)
if(TARGET tutti_command)
  add_dependencies(tutti_installed tutti_command)
endif()
if(TARGET tutti_oneccl)
  add_dependencies(tutti_installed tutti_oneccl)
endif()
if(TARGET tutti_mpi_abi)
  add_dependencies(tutti_installed tutti_mpi_abi tutti_mpitrampoline)
endif()
if(TARGET tutti_man)
  add_dependencies(tutti_installed tutti_man)
endif()
if(TARGET tutti_static)
  add_dependencies(tutti_installed tutti_static)
endif()
