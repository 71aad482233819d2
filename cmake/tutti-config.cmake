# find_package(tutti): tutti::tutti, the library, and tutti::tutti_static where libtutti.a is installed.
include(${CMAKE_CURRENT_LIST_DIR}/tutti-targets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/tutti-static-targets.cmake OPTIONAL)
