# What a release promises of its files: the binary interface, and how they were linked.
add_test(NAME abi COMMAND Python3::Interpreter -B
  ${CMAKE_CURRENT_SOURCE_DIR}/abi/abi.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
add_test(NAME abi_finds_faults COMMAND Python3::Interpreter -B
  ${CMAKE_CURRENT_SOURCE_DIR}/abi/abi_test.py)
set_tests_properties(abi abi_finds_faults PROPERTIES LABELS api SKIP_RETURN_CODE 77)
if(TUTTI_HARDEN)
  set(expected)
  if(fortified)
    set(expected --fortified)
  endif()
  add_test(NAME hardening COMMAND Python3::Interpreter -B
    ${CMAKE_CURRENT_SOURCE_DIR}/hardening/hardening.py ${PROJECT_BINARY_DIR}
    ${expected})
  set_tests_properties(hardening PROPERTIES LABELS api)
endif()
add_test(NAME sbom COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/tools/sbom_test.py)
set_tests_properties(sbom PROPERTIES LABELS layering)
