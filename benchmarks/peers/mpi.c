/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * Any MPI library as a contestant of versus.py; compiled once with each library's own headers.
 */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "server.h"

static const char* call(enum collective collective, const float* send, float* recv, size_t count) {
  if (count > INT_MAX) return "more than 2^31-1 elements";
  const int n = (int)count;
  const MPI_Comm world = MPI_COMM_WORLD;
  int rc = MPI_SUCCESS;
  switch (collective) {
    case COLLECTIVE_ALLREDUCE: rc = MPI_Allreduce(send, recv, n, MPI_FLOAT, MPI_SUM, world); break;
    case COLLECTIVE_BROADCAST: rc = MPI_Bcast(recv, n, MPI_FLOAT, 0, world); break;
    case COLLECTIVE_REDUCE: rc = MPI_Reduce(send, recv, n, MPI_FLOAT, MPI_SUM, 0, world); break;
    case COLLECTIVE_ALLGATHER:
      rc = MPI_Allgather(send, n, MPI_FLOAT, recv, n, MPI_FLOAT, world);
      break;
    case COLLECTIVE_REDUCE_SCATTER:
      rc = MPI_Reduce_scatter_block(send, recv, n, MPI_FLOAT, MPI_SUM, world);
      break;
    case COLLECTIVE_ALLTOALL:
      rc = MPI_Alltoall(send, n, MPI_FLOAT, recv, n, MPI_FLOAT, world);
      break;
    case COLLECTIVE_BARRIER: rc = MPI_Barrier(world); break;
    default: return "no such collective";
  }
  return rc == MPI_SUCCESS ? NULL : "MPI error";
}

/* The first line of the library's own description, without trailing separators. */
static void describe(char* text) {
  int length = 0;
  MPI_Get_library_version(text, &length);
  text[strcspn(text, "\n")] = '\0';
  for (char* p = text; *p != '\0'; ++p)
    if (*p == '\t') *p = ' ';
}

int main(int argc, char** argv) {
  static char version[MPI_MAX_LIBRARY_VERSION_STRING];
  pin_to_core();
  MPI_Init(&argc, &argv);
  struct contestant contestant = {.version = version, .call = call};
  MPI_Comm_rank(MPI_COMM_WORLD, &contestant.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &contestant.ranks);
  describe(version);
  const int status = serve(&contestant);
  MPI_Finalize();
  return status;
}
