/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * Tutti as a contestant of versus.py, through its C API, with no setting of any kind.
 */
#include <stdio.h>
#include <tutti/tutti.h>

#include "server.h"

static tutti_comm_t comm;

static const char* call(enum collective collective, const float* send, float* recv, size_t count) {
  tutti_status status = TUTTI_ERR_UNSUPPORTED;
  switch (collective) {
    case COLLECTIVE_ALLREDUCE:
      status = tutti_allreduce(send, recv, count, TUTTI_FLOAT32, TUTTI_SUM, comm);
      break;
    case COLLECTIVE_BROADCAST: status = tutti_broadcast(recv, count, TUTTI_FLOAT32, 0, comm); break;
    case COLLECTIVE_REDUCE:
      status = tutti_reduce(send, recv, count, TUTTI_FLOAT32, TUTTI_SUM, 0, comm);
      break;
    case COLLECTIVE_ALLGATHER:
      status = tutti_allgather(send, recv, count, TUTTI_FLOAT32, comm);
      break;
    case COLLECTIVE_REDUCE_SCATTER:
      status = tutti_reduce_scatter(send, recv, count, TUTTI_FLOAT32, TUTTI_SUM, comm);
      break;
    case COLLECTIVE_ALLTOALL:
      status = tutti_alltoall(send, recv, count, TUTTI_FLOAT32, comm);
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
      tutti_comm_rank(comm, &contestant.rank) != TUTTI_OK ||
      tutti_comm_size(comm, &contestant.ranks) != TUTTI_OK) {
    fprintf(stderr, "%s\n", tutti_last_error());
    return 1;
  }
  const int status = serve(&contestant);
  tutti_comm_destroy(comm);
  return status;
}
