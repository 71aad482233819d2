# `cmake --build build --target package`: all that is installed as tutti-<version>-<system>.tar.gz, which
# may be unpacked anywhere. Debian's packages and others have files of their own (packaging/).
set(CPACK_GENERATOR TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_FILE_NAME tutti-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
