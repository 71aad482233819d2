// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The three forms of a collective, of which each has two: FN(name), N and D say which.
#pragma once

#define TUTTI_MPI_LIST(...) __VA_ARGS__
#define TUTTI_MPI_FORMS(name, iname, Class, parameters, arguments)                          \
  TUTTI_MPI(FN(name), (TUTTI_MPI_LIST parameters, MPI_Comm comm)) {                         \
    return blocking<Class>(TUTTI_MPI_NAME, comm, TUTTI_MPI_LIST arguments);                 \
  }                                                                                         \
  TUTTI_MPI(FN(iname), (TUTTI_MPI_LIST parameters, MPI_Comm comm, MPI_Request * request)) { \
    return immediate<Class>(TUTTI_MPI_NAME, comm, request, TUTTI_MPI_LIST arguments);       \
  }                                                                                         \
  TUTTI_MPI(FN(name##_init),                                                                \
            (TUTTI_MPI_LIST parameters, MPI_Comm comm, MPI_Info, MPI_Request * request)) {  \
    return prepared<Class>(TUTTI_MPI_NAME, comm, request, TUTTI_MPI_LIST arguments);        \
  }
