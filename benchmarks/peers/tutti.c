/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * Tutti as a contestant of versus.py, through its C API, with no setting of any kind.
 */
#include <stdio.h>
#include <tutti/tutti.h>

#include "server.h"

static tutti_comm_t comm;
static int rank;
static int ranks;

static tutti_status exchange(const struct operation* o, tutti_type type) {
  const int next = (rank + 1) % ranks;
  const int previous = (rank + ranks - 1) % ranks;
  return tutti_sendrecv(o->send, o->count, next, 0, o->recv, o->count, previous, 0, type, comm,
                        NULL);
}

/* The forms for uneven blocks, with equal ones. */
static tutti_status call_uneven(const struct operation* o, tutti_type type) {
  static size_t counts[MOST_RANKS];
  static size_t displs[MOST_RANKS];
  const size_t n = o->count;
  const int known = counts[ranks - 1] == n;
  for (int i = 0; i < ranks && !known; ++i) {
    counts[i] = n;
    displs[i] = (size_t)i * n;
  }
  switch (o->collective) {
    case COLLECTIVE_ALLGATHER:
      return tutti_allgatherv(o->send, o->recv, counts, displs, type, comm);
    case COLLECTIVE_REDUCE_SCATTER:
      return tutti_reduce_scatterv(o->send, o->recv, counts, type, TUTTI_SUM, comm);
    case COLLECTIVE_ALLTOALL:
      return tutti_alltoallv(o->send, counts, displs, o->recv, counts, displs, type, comm);
    case COLLECTIVE_GATHER:
      return tutti_gatherv(o->send, n, o->recv, counts, displs, type, 0, comm);
    default: return tutti_scatterv(o->send, counts, displs, o->recv, n, type, 0, comm);
  }
}

static tutti_status call_even(const struct operation* o, tutti_type type) {
  const void* const send = o->send;
  void* const recv = o->recv;
  const size_t count = o->count;
  switch (o->collective) {
    case COLLECTIVE_ALLREDUCE: return tutti_allreduce(send, recv, count, type, TUTTI_SUM, comm);
    case COLLECTIVE_BROADCAST: return tutti_broadcast(recv, count, type, 0, comm);
    case COLLECTIVE_REDUCE: return tutti_reduce(send, recv, count, type, TUTTI_SUM, 0, comm);
    case COLLECTIVE_ALLGATHER: return tutti_allgather(send, recv, count, type, comm);
    case COLLECTIVE_REDUCE_SCATTER:
      return tutti_reduce_scatter(send, recv, count, type, TUTTI_SUM, comm);
    case COLLECTIVE_ALLTOALL: return tutti_alltoall(send, recv, count, type, comm);
    case COLLECTIVE_GATHER: return tutti_gather(send, recv, count, type, 0, comm);
    case COLLECTIVE_SCATTER: return tutti_scatter(send, recv, count, type, 0, comm);
    case COLLECTIVE_SENDRECV: return exchange(o, type);
    default: return tutti_barrier(comm);
  }
}

static const char* call(const struct operation* o) {
  if (o->in_place && o->collective == COLLECTIVE_ALLTOALL) return NOT_OFFERED "alltoall in place";
  if (o->in_place && o->collective == COLLECTIVE_SENDRECV) return NOT_OFFERED "sendrecv in place";
  const tutti_type type = o->type == TYPE_FLOAT32 ? TUTTI_FLOAT32 : TUTTI_BFLOAT16;
  const tutti_status status = o->uneven ? call_uneven(o, type) : call_even(o, type);
  return status == TUTTI_OK ? NULL : tutti_last_error();
}

int main(void) {
  pin_to_core();
  struct contestant contestant = {.call = call};
  char version[64];
  snprintf(version, sizeof version, "Tutti %s", tutti_version_string());
  contestant.version = version;
  if (tutti_comm_create_from_env(NULL, &comm) != TUTTI_OK ||
      tutti_comm_rank(comm, &rank) != TUTTI_OK || tutti_comm_size(comm, &ranks) != TUTTI_OK) {
    fprintf(stderr, "%s\n", tutti_last_error());
    return 1;
  }
  contestant.rank = rank;
  contestant.ranks = ranks;
  const int status = serve(&contestant);
  tutti_comm_destroy(comm);
  return status;
}
