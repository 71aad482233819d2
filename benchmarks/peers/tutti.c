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

/* The blocking function, or the non-blocking one where there is a `request` to give. */
#define EITHER(name, ...) \
  (request == NULL ? tutti_##name(__VA_ARGS__) : tutti_i##name(__VA_ARGS__, request))

static tutti_status finish(tutti_request_t request) {
  const tutti_status status = tutti_request_wait(request);
  const tutti_status freed = tutti_request_free(request);
  return status != TUTTI_OK ? status : freed;
}

static tutti_status exchange(const struct operation* o, tutti_type type) {
  const int next = (rank + 1) % ranks;
  const int previous = (rank + ranks - 1) % ranks;
  if (!o->nonblocking)
    return tutti_sendrecv(o->send, o->count, next, 0, o->recv, o->count, previous, 0, type, comm,
                          NULL);
  tutti_request_t sent = NULL;
  tutti_request_t received = NULL;
  tutti_status status = tutti_irecv(o->recv, o->count, type, previous, 0, comm, &received);
  if (status != TUTTI_OK) return status;
  status = tutti_isend(o->send, o->count, type, next, 0, comm, &sent);
  if (status != TUTTI_OK) return status;
  status = finish(sent);
  const tutti_status of_receive = finish(received);
  return status != TUTTI_OK ? status : of_receive;
}

/* The forms for uneven blocks, with equal ones. */
static tutti_status call_uneven(const struct operation* o, tutti_type type,
                                tutti_request_t* request) {
  static size_t counts[MOST_RANKS];
  static size_t displs[MOST_RANKS];
  const size_t n = o->count;
  const void* const send = o->send;
  void* const recv = o->recv;
  const int known = counts[ranks - 1] == n;
  for (int i = 0; i < ranks && !known; ++i) {
    counts[i] = n;
    displs[i] = (size_t)i * n;
  }
  switch (o->collective) {
    case COLLECTIVE_ALLGATHER: return EITHER(allgatherv, send, recv, counts, displs, type, comm);
    case COLLECTIVE_REDUCE_SCATTER:
      return EITHER(reduce_scatterv, send, recv, counts, type, TUTTI_SUM, comm);
    case COLLECTIVE_ALLTOALL:
      return EITHER(alltoallv, send, counts, displs, recv, counts, displs, type, comm);
    case COLLECTIVE_GATHER: return EITHER(gatherv, send, n, recv, counts, displs, type, 0, comm);
    default: return EITHER(scatterv, send, counts, displs, recv, n, type, 0, comm);
  }
}

static tutti_status call_even(const struct operation* o, tutti_type type,
                              tutti_request_t* request) {
  const void* const send = o->send;
  void* const recv = o->recv;
  const size_t count = o->count;
  switch (o->collective) {
    case COLLECTIVE_ALLREDUCE: return EITHER(allreduce, send, recv, count, type, TUTTI_SUM, comm);
    case COLLECTIVE_BROADCAST: return EITHER(broadcast, recv, count, type, 0, comm);
    case COLLECTIVE_REDUCE: return EITHER(reduce, send, recv, count, type, TUTTI_SUM, 0, comm);
    case COLLECTIVE_ALLGATHER: return EITHER(allgather, send, recv, count, type, comm);
    case COLLECTIVE_REDUCE_SCATTER:
      return EITHER(reduce_scatter, send, recv, count, type, TUTTI_SUM, comm);
    case COLLECTIVE_ALLTOALL: return EITHER(alltoall, send, recv, count, type, comm);
    case COLLECTIVE_GATHER: return EITHER(gather, send, recv, count, type, 0, comm);
    case COLLECTIVE_SCATTER: return EITHER(scatter, send, recv, count, type, 0, comm);
    default: return EITHER(barrier, comm);
  }
}

static tutti_status start(const struct operation* o, tutti_type type, tutti_request_t* request) {
  return o->uneven ? call_uneven(o, type, request) : call_even(o, type, request);
}

static tutti_status run(const struct operation* o, tutti_type type) {
  if (o->collective == COLLECTIVE_SENDRECV) return exchange(o, type);
  if (!o->nonblocking) return start(o, type, NULL);
  tutti_request_t request = NULL;
  const tutti_status status = start(o, type, &request);
  return status == TUTTI_OK ? finish(request) : status;
}

static const char* call(const struct operation* o) {
  if (o->in_place && o->collective == COLLECTIVE_ALLTOALL) return NOT_OFFERED "alltoall in place";
  if (o->in_place && o->collective == COLLECTIVE_SENDRECV) return NOT_OFFERED "sendrecv in place";
  const tutti_type type = o->type == TYPE_FLOAT32 ? TUTTI_FLOAT32 : TUTTI_BFLOAT16;
  return run(o, type) == TUTTI_OK ? NULL : tutti_last_error();
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
