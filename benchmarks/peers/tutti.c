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

static const char* call(const struct operation* o) {
  const tutti_type type = o->type == TYPE_FLOAT32 ? TUTTI_FLOAT32 : TUTTI_BFLOAT16;
  const void* const send = o->send;
  void* const recv = o->recv;
  const size_t count = o->count;
  tutti_status status = TUTTI_ERR_UNSUPPORTED;
  switch (o->collective) {
    case COLLECTIVE_ALLREDUCE:
      status = tutti_allreduce(send, recv, count, type, TUTTI_SUM, comm);
      break;
    case COLLECTIVE_BROADCAST: status = tutti_broadcast(recv, count, type, 0, comm); break;
    case COLLECTIVE_REDUCE:
      status = tutti_reduce(send, recv, count, type, TUTTI_SUM, 0, comm);
      break;
    case COLLECTIVE_ALLGATHER: status = tutti_allgather(send, recv, count, type, comm); break;
    case COLLECTIVE_REDUCE_SCATTER:
      status = tutti_reduce_scatter(send, recv, count, type, TUTTI_SUM, comm);
      break;
    case COLLECTIVE_ALLTOALL:
      if (o->in_place) return NOT_OFFERED "alltoall in place";
      status = tutti_alltoall(send, recv, count, type, comm);
      break;
    case COLLECTIVE_GATHER: status = tutti_gather(send, recv, count, type, 0, comm); break;
    case COLLECTIVE_SCATTER: status = tutti_scatter(send, recv, count, type, 0, comm); break;
    case COLLECTIVE_SENDRECV:
      if (o->in_place) return NOT_OFFERED "sendrecv in place";
      status = exchange(o, type);
      break;
    case COLLECTIVE_BARRIER: status = tutti_barrier(comm); break;
    default: return "no such collective";
  }
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
