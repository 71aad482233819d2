/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * What the programs of tests/mpi have in common. Each is an MPI program that knows mpi.h alone; it
 * says what is wrong and ends with 1, so that its launcher fails. */
#ifndef TUTTI_TESTS_MPI_CHECK_H
#define TUTTI_TESTS_MPI_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

#define CHECK(condition)                                                                          \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      fprintf(stderr, "%s:%d: rank %d of %d: %s\n", __FILE__, __LINE__, rank, ranks, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                               \
    }                                                                                             \
  } while (0)
#define CHECK_EQUAL(got, expected)                                                             \
  do {                                                                                         \
    const long long got_ = (long long)(got), expected_ = (long long)(expected);                \
    if (got_ != expected_) {                                                                   \
      fprintf(stderr, "%s:%d: rank %d of %d: %s is %lld, expected %lld\n", __FILE__, __LINE__, \
              rank, ranks, #got, got_, expected_);                                             \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                            \
    }                                                                                          \
  } while (0)

static inline void begin(int* argc, char*** argv) {
  CHECK_EQUAL(MPI_Init(argc, argv), MPI_SUCCESS);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

/* The program is right on this rank: says so, once on rank 0. */
static int end(const char* what) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%s: right on %d ranks\n", what, ranks);
  return MPI_Finalize();
}

#endif
