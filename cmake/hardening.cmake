# What makes faults of memory harder to use, where the compiler has it: addresses are bound before a
# program starts and are read-only then, no stack is executable, a return goes back to its call (CET's
# shadow stack; its other half, marks where calls may go, takes up to 1.6 % more instructions per small
# call). All but the library itself, in which a small call has few instructions, also checks the end of
# stacks and of buffers that it copies to.
if(NOT TUTTI_HARDEN OR TUTTI_SANITIZE)
  return()
endif()
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-fcf-protection=return TUTTI_HAVE_SHADOW_STACKS)
check_cxx_compiler_flag(-fstack-protector-strong TUTTI_HAVE_STACK_PROTECTOR)
set(stack_checks $<$<BOOL:${TUTTI_HAVE_STACK_PROTECTOR}>:-fstack-protector-strong>)
# Which the C library refuses without optimisation; a builder's own stays.
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
set(fortified)
if("${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" MATCHES "-O[123s]" AND
    NOT "$ENV{CPPFLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "FORTIFY_SOURCE")
  set(fortified -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
foreach(target tutti_inside tutti tutti_oneccl tutti_mpi_functions tutti_mpi_abi tutti_command
    tutti_mpitrampoline)
  if(NOT TARGET ${target})
    continue()
  endif()
  target_compile_options(${target} PRIVATE
    $<$<BOOL:${TUTTI_HAVE_SHADOW_STACKS}>:-fcf-protection=return>)
  if(NOT target STREQUAL tutti_inside)
    target_compile_options(${target} PRIVATE ${stack_checks} ${fortified})
  endif()
  get_target_property(kind ${target} TYPE)
  if(NOT kind MATCHES "STATIC|OBJECT")
    target_link_options(${target} PRIVATE LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
  endif()
endforeach()
