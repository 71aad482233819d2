# libtutti.a: for programs that want no library beside them. One object, in which all that is not
# tutti.h is local, so that no name of the inside meets one of the program's.
find_program(TUTTI_LD NAMES ld.bfd ld REQUIRED)
find_program(TUTTI_OBJCOPY NAMES objcopy REQUIRED)
set(static_object ${PROJECT_BINARY_DIR}/static/tutti.o)
add_custom_command(OUTPUT ${static_object}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/static
  # Without groups of sections, whose names others share. What GCC keeps for optimising as a whole
  # would bring the global names back.
  COMMAND ${TUTTI_LD} -r --force-group-allocation -o ${static_object}
    --whole-archive $<TARGET_FILE:tutti_inside>
  COMMAND ${TUTTI_OBJCOPY} --wildcard --keep-global-symbol tutti_* --remove-section .gnu.lto_*
    --remove-section .gnu.debuglto_* --strip-debug ${static_object}
  DEPENDS tutti_inside VERBATIM)
add_library(tutti_static STATIC ${static_object})
add_library(tutti::tutti_static ALIAS tutti_static)
set_source_files_properties(${static_object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
set_target_properties(tutti_static PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME tutti
  ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/static)
target_include_directories(tutti_static INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# By their names, so that who links needs no find_package for them; programs in C need C++'s, too.
set(static_libraries -lfmt -lhwloc -lsodium -lstdc++ -lm -lpthread -ldl)
target_link_libraries(tutti_static INTERFACE ${static_libraries})
install(TARGETS tutti_static EXPORT tutti-static-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT static)
install(EXPORT tutti-static-targets NAMESPACE tutti:: COMPONENT static
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tutti)
