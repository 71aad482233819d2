/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * Any MPI library as a contestant of versus.py; compiled once with each library's own headers.
 *
 * MPI has no bfloat16. Some libraries have one of their own; where there is none, it goes as 16-bit
 * integers, and reductions add by a function, as an application would have it.
 */
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "server.h"

#ifdef MPIX_BFLOAT16
#define BFLOAT16 MPIX_BFLOAT16
#else
#define BFLOAT16 MPI_UINT16_T
#define ADDS_BFLOAT16
#endif

static int rank;
static int ranks;
static MPI_Op sum_of[TYPES]; /* by type */

#ifdef ADDS_BFLOAT16
static float widened(uint16_t value) {
  const uint32_t bits = (uint32_t)value << 16;
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

/* Rounds to nearest, ties to even; of numbers only. */
static uint16_t rounded(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Vectorised, as the libraries' own sums are. */
__attribute__((optimize("O3"))) static void add_bfloat16(void* in, void* inout, int* count,
                                                         MPI_Datatype* type) {
  const uint16_t* const from = in;
  uint16_t* const to = inout;
  (void)type;
  for (int i = 0; i < *count; ++i) to[i] = rounded(widened(from[i]) + widened(to[i]));
}
#endif

static const char* not_offered(const struct operation* o) {
  if (o->in_place && o->collective == COLLECTIVE_REDUCE_SCATTER)
    return NOT_OFFERED "in place, MPI leaves the block at the start of the buffer";
  if (o->in_place && (o->collective == COLLECTIVE_ALLTOALL || o->collective == COLLECTIVE_SENDRECV))
    return NOT_OFFERED "Tutti has no such call in place to compare with";
  const size_t elements = o->count * (size_t)(o->uneven ? ranks : 1);
  return elements > INT_MAX ? "more than 2^31-1 elements" : NULL;
}

/* MPI's way to say where data already lies; at the root only, for collectives that have one. */
static const void* own_of(const struct operation* o) {
  return o->in_place ? MPI_IN_PLACE : o->send;
}
static const void* own_of_root(const struct operation* o) {
  return o->in_place && rank == 0 ? MPI_IN_PLACE : o->send;
}
static void* to_of_root(const struct operation* o) {
  return o->in_place && rank == 0 ? MPI_IN_PLACE : o->recv;
}

/* The blocking function, or the non-blocking one where there is a `request` to give. */
#define EITHER(blocking, nonblocking, ...) \
  (request == NULL ? MPI_##blocking(__VA_ARGS__) : MPI_##nonblocking(__VA_ARGS__, request))

/* The forms for uneven blocks, with equal ones. */
static int call_uneven(const struct operation* o, MPI_Datatype type, MPI_Request* request) {
  static int counts[MOST_RANKS];
  static int displs[MOST_RANKS];
  const MPI_Comm world = MPI_COMM_WORLD;
  const int n = (int)o->count;
  const void* const send = o->send;
  void* const recv = o->recv;
  const int known = counts[ranks - 1] == n;
  for (int i = 0; i < ranks && !known; ++i) {
    counts[i] = n;
    displs[i] = i * n;
  }
  switch (o->collective) {
    case COLLECTIVE_ALLGATHER:
      return EITHER(Allgatherv, Iallgatherv, own_of(o), n, type, recv, counts, displs, type, world);
    case COLLECTIVE_REDUCE_SCATTER:
      return EITHER(Reduce_scatter, Ireduce_scatter, send, recv, counts, type, sum_of[o->type],
                    world);
    case COLLECTIVE_ALLTOALL:
      return EITHER(Alltoallv, Ialltoallv, send, counts, displs, type, recv, counts, displs, type,
                    world);
    case COLLECTIVE_GATHER:
      return EITHER(Gatherv, Igatherv, own_of_root(o), n, type, recv, counts, displs, type, 0,
                    world);
    default:
      return EITHER(Scatterv, Iscatterv, send, counts, displs, type, to_of_root(o), n, type, 0,
                    world);
  }
}

static int exchange(const struct operation* o, MPI_Datatype type) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int n = (int)o->count;
  const int next = (rank + 1) % ranks;
  const int previous = (rank + ranks - 1) % ranks;
  if (!o->nonblocking)
    return MPI_Sendrecv(o->send, n, type, next, 0, o->recv, n, type, previous, 0, world,
                        MPI_STATUS_IGNORE);
  MPI_Request both[2];
  MPI_Irecv(o->recv, n, type, previous, 0, world, &both[0]);
  MPI_Isend(o->send, n, type, next, 0, world, &both[1]);
  return MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

static int call_even(const struct operation* o, MPI_Datatype type, MPI_Request* request) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int n = (int)o->count;
  const void* const send = o->send;
  void* const recv = o->recv;
  switch (o->collective) {
    case COLLECTIVE_ALLREDUCE:
      return EITHER(Allreduce, Iallreduce, own_of(o), recv, n, type, sum_of[o->type], world);
    case COLLECTIVE_BROADCAST: return EITHER(Bcast, Ibcast, recv, n, type, 0, world);
    case COLLECTIVE_REDUCE:
      return EITHER(Reduce, Ireduce, own_of_root(o), recv, n, type, sum_of[o->type], 0, world);
    case COLLECTIVE_ALLGATHER:
      return EITHER(Allgather, Iallgather, own_of(o), n, type, recv, n, type, world);
    case COLLECTIVE_REDUCE_SCATTER:
      return EITHER(Reduce_scatter_block, Ireduce_scatter_block, send, recv, n, type,
                    sum_of[o->type], world);
    case COLLECTIVE_ALLTOALL:
      return EITHER(Alltoall, Ialltoall, send, n, type, recv, n, type, world);
    case COLLECTIVE_GATHER:
      return EITHER(Gather, Igather, own_of_root(o), n, type, recv, n, type, 0, world);
    case COLLECTIVE_SCATTER:
      return EITHER(Scatter, Iscatter, send, n, type, to_of_root(o), n, type, 0, world);
    default: return EITHER(Barrier, Ibarrier, world);
  }
}

static int start(const struct operation* o, MPI_Datatype type, MPI_Request* request) {
  return o->uneven ? call_uneven(o, type, request) : call_even(o, type, request);
}

static int run(const struct operation* o, MPI_Datatype type) {
  if (o->collective == COLLECTIVE_SENDRECV) return exchange(o, type);
  if (!o->nonblocking) return start(o, type, NULL);
  MPI_Request request = MPI_REQUEST_NULL;
  const int rc = start(o, type, &request);
  return rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

static const char* call(const struct operation* o) {
  const char* refusal = not_offered(o);
  if (refusal != NULL) return refusal;
  const MPI_Datatype type = o->type == TYPE_FLOAT32 ? MPI_FLOAT : BFLOAT16;
  return run(o, type) == MPI_SUCCESS ? NULL : "MPI error";
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
  sum_of[TYPE_FLOAT32] = sum_of[TYPE_BFLOAT16] = MPI_SUM;
#ifdef ADDS_BFLOAT16
  MPI_Op_create(add_bfloat16, 1, &sum_of[TYPE_BFLOAT16]);
#endif
  const int status = serve(&contestant);
  MPI_Finalize();
  return status;
}
