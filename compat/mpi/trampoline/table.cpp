// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The data that MPItrampoline, a part of jaxlib, reads of the library that MPITRAMPOLINE_LIB names.
// Besides functions these are constants, of which each library has its own values, and versions.
#include <mpi.h>

#include "api.hpp"

#define TUTTI_MPI_EXPORTED extern "C" __attribute__((visibility("default")))

// Constants of Fortran have no place in a program of C.
#define MPI_F_STATUS_IGNORE ((int*)nullptr)
#define MPI_F_STATUSES_IGNORE ((int*)nullptr)
// The type is that of the value: +, for an enumerator is read as a number.
#define TUTTI_MPI_CONSTANT(name)                                \
  TUTTI_MPI_EXPORTED decltype(+MPI_##name) const MPIABI_##name; \
  decltype(+MPI_##name) const MPIABI_##name = MPI_##name;
#include "constants.inc"
TUTTI_MPI_CONSTANT(F_STATUS_IGNORE)
TUTTI_MPI_CONSTANT(F_STATUSES_IGNORE)
#undef TUTTI_MPI_CONSTANT

// The interface that this follows: its major number has to be the caller's, the minor not less.
#define TUTTI_MPI_VERSION(name, value) \
  TUTTI_MPI_EXPORTED const int name;   \
  const int name = value;
TUTTI_MPI_VERSION(mpiabi_version_major, 2)
TUTTI_MPI_VERSION(mpiabi_version_minor, 10)
TUTTI_MPI_VERSION(mpiabi_version_patch, 0)
TUTTI_MPI_VERSION(mpiwrapper_version_major, TUTTI_VERSION_MAJOR)
TUTTI_MPI_VERSION(mpiwrapper_version_minor, TUTTI_VERSION_MINOR)
TUTTI_MPI_VERSION(mpiwrapper_version_patch, TUTTI_VERSION_PATCH)

// Functions that the standard's interface lacks: of Fortran's handles, and one of MPI 1. 0 is null.
#define TUTTI_MPI_ABSENT(name, result)                                                 \
  TUTTI_MPI_EXPORTED intptr_t MPIABI_##name();                                         \
  intptr_t MPIABI_##name() {                                                           \
    static bool said = false;                                                          \
    if (!said) tutti_mpi::say("MPI_" #name " is not in this library's subset of MPI"); \
    said = true;                                                                       \
    return result;                                                                     \
  }
#define TUTTI_MPI_ABSENT_IN_FORTRAN(name, result) \
  TUTTI_MPI_ABSENT(name##_c2f, result)            \
  TUTTI_MPI_ABSENT(name##_f2c, result)
TUTTI_MPI_ABSENT_IN_FORTRAN(Comm, 0)
TUTTI_MPI_ABSENT_IN_FORTRAN(Errhandler, 0)
TUTTI_MPI_ABSENT_IN_FORTRAN(File, 0)
TUTTI_MPI_ABSENT_IN_FORTRAN(Group, 0)
TUTTI_MPI_ABSENT_IN_FORTRAN(Info, 0)
TUTTI_MPI_ABSENT_IN_FORTRAN(Message, 0)
TUTTI_MPI_ABSENT_IN_FORTRAN(Op, 0)
TUTTI_MPI_ABSENT_IN_FORTRAN(Request, 0)
TUTTI_MPI_ABSENT_IN_FORTRAN(Type, 0)
TUTTI_MPI_ABSENT_IN_FORTRAN(Win, 0)
TUTTI_MPI_ABSENT_IN_FORTRAN(Status, MPI_ERR_UNSUPPORTED_OPERATION)
TUTTI_MPI_ABSENT(Type_struct, MPI_ERR_UNSUPPORTED_OPERATION)

// Whether buffers may lie on a device: none of MPI's calls takes such.
#define TUTTI_MPI_ABSENT_DEVICE(name)      \
  TUTTI_MPI_EXPORTED int MPIXABI_##name(); \
  int MPIXABI_##name() { return 0; }
TUTTI_MPI_ABSENT_DEVICE(Query_cuda_support)
TUTTI_MPI_ABSENT_DEVICE(Query_hip_support)
TUTTI_MPI_ABSENT_DEVICE(Query_ze_support)

TUTTI_MPI_EXPORTED void mpiwrapper_export_fortran_constants_() {}
