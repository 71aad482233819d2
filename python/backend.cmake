# The part for PyTorch: its extension, and what programs find of what it replaces.
include(torch.cmake)
file(GLOB sources CONFIGURE_DEPENDS csrc/*.cpp)
Python_add_library(_C MODULE WITH_SOABI ${sources})
target_link_libraries(_C PRIVATE tutti::tutti torch_for_extensions)
target_compile_options(_C PRIVATE -Wall -Wextra -Wconversion)
# PyTorch's headers are most of the work of every file: all are compiled as one, beside the recorder.
set_target_properties(_C PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${package}/tutti_ccl_torch/${torch_folder}
  INSTALL_RPATH $ORIGIN/../../tutti_ccl/${library_folder} UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
# PyTorch's recorder comes as a header that needs fmt, of which PyTorch has the headers alone.
set_source_files_properties(csrc/flight_recorder.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
  COMPILE_DEFINITIONS FMT_HEADER_ONLY)
install(TARGETS _C LIBRARY DESTINATION ../tutti_ccl_torch/${torch_folder} COMPONENT python)

# Programs ask which version of the distribution oneccl_bind_pt is installed; its versions were
# those of PyTorch. They are told by an .egg-info: a wheel can have several of these besides its own
# .dist-info.
configure_file(oneccl_bind_pt.in oneccl_bind_pt @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/oneccl_bind_pt RENAME PKG-INFO COMPONENT python
  DESTINATION ../oneccl_bind_pt-${TORCH_PUBLIC_VERSION}.egg-info)

include(sycl/sycl.cmake)
