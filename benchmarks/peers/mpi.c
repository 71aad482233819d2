/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * Any MPI library as a contestant of versus.py; compiled once with each library's own headers.
 *
 * MPI has no bfloat16. Some libraries have one of their own; where there is none, collectives that
 * only move data take it as 16-bit integers, and reductions are not offered.
 */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "server.h"

#ifdef MPIX_BFLOAT16
#define BFLOAT16_SUMS 1
#define BFLOAT16 MPIX_BFLOAT16
#else
#define BFLOAT16_SUMS 0
#define BFLOAT16 MPI_UINT16_T
#endif

static int rank;
static int ranks;

static int is_reduction(enum collective collective) {
  return collective == COLLECTIVE_ALLREDUCE || collective == COLLECTIVE_REDUCE ||
         collective == COLLECTIVE_REDUCE_SCATTER;
}

static const char* not_offered(const struct operation* o) {
  if (!BFLOAT16_SUMS && o->type == TYPE_BFLOAT16 && is_reduction(o->collective))
    return NOT_OFFERED "this MPI has no bfloat16";
  if (o->in_place && o->collective == COLLECTIVE_REDUCE_SCATTER)
    return NOT_OFFERED "in place, MPI leaves the block at the start of the buffer";
  if (o->in_place && (o->collective == COLLECTIVE_ALLTOALL || o->collective == COLLECTIVE_SENDRECV))
    return NOT_OFFERED "Tutti has no such call in place to compare with";
  return o->count > INT_MAX ? "more than 2^31-1 elements" : NULL;
}

static const char* call(const struct operation* o) {
  const char* refusal = not_offered(o);
  if (refusal != NULL) return refusal;
  const MPI_Datatype type = o->type == TYPE_FLOAT32 ? MPI_FLOAT : BFLOAT16;
  const MPI_Comm world = MPI_COMM_WORLD;
  const int n = (int)o->count;
  /* MPI's way to say where data already lies; at the root only, for collectives that have one. */
  const void* const own = o->in_place ? MPI_IN_PLACE : o->send;
  const void* const root_own = o->in_place && rank == 0 ? MPI_IN_PLACE : o->send;
  const void* const send = o->send;
  void* const recv = o->recv;
  int rc = MPI_SUCCESS;
  switch (o->collective) {
    case COLLECTIVE_ALLREDUCE: rc = MPI_Allreduce(own, recv, n, type, MPI_SUM, world); break;
    case COLLECTIVE_BROADCAST: rc = MPI_Bcast(recv, n, type, 0, world); break;
    case COLLECTIVE_REDUCE: rc = MPI_Reduce(root_own, recv, n, type, MPI_SUM, 0, world); break;
    case COLLECTIVE_ALLGATHER: rc = MPI_Allgather(own, n, type, recv, n, type, world); break;
    case COLLECTIVE_REDUCE_SCATTER:
      rc = MPI_Reduce_scatter_block(send, recv, n, type, MPI_SUM, world);
      break;
    case COLLECTIVE_ALLTOALL: rc = MPI_Alltoall(send, n, type, recv, n, type, world); break;
    case COLLECTIVE_GATHER: rc = MPI_Gather(root_own, n, type, recv, n, type, 0, world); break;
    case COLLECTIVE_SCATTER: {
      void* const to = o->in_place && rank == 0 ? MPI_IN_PLACE : recv;
      rc = MPI_Scatter(send, n, type, to, n, type, 0, world);
      break;
    }
    case COLLECTIVE_SENDRECV:
      rc = MPI_Sendrecv(send, n, type, (rank + 1) % ranks, 0, recv, n, type,
                        (rank + ranks - 1) % ranks, 0, world, MPI_STATUS_IGNORE);
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
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  contestant.rank = rank;
  contestant.ranks = ranks;
  describe(version);
  const int status = serve(&contestant);
  MPI_Finalize();
  return status;
}
