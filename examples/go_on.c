/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * A job that outlives one of its ranks: rank 1 is killed in the middle, the others read who it was
 * and do what is left without it.
 *
 *   cc examples/go_on.c $(pkg-config --cflags --libs tutti) -o go_on
 *   tutti run -n 3 --keep-going ./go_on
 */
#include <signal.h>
#include <stdio.h>
#include <tutti/tutti.h>
#include <unistd.h>

enum { ROUNDS = 20 };

/* The rounds from *round on; on an error *round is the one that failed. */
static tutti_status work(tutti_comm_t comm, int rank, int* round) {
  for (; *round < ROUNDS; ++*round) {
    if (rank == 1 && *round == ROUNDS / 2) kill(getpid(), SIGKILL);
    float value = 1;
    const tutti_status status = tutti_allreduce(&value, &value, 1, TUTTI_FLOAT32, TUTTI_SUM, comm);
    if (status != TUTTI_OK) return status;
  }
  return TUTTI_OK;
}

/* Replaces the broken communicator by one of those who are left. */
static tutti_status go_on(tutti_comm_t* comm, int ranks) {
  tutti_comm_t smaller = NULL;
  tutti_status status = tutti_comm_shrink(*comm, NULL, &smaller);
  if (status != TUTTI_OK) return status;
  tutti_comm_destroy(*comm);
  *comm = smaller;
  int left = 0;
  int rank = 0;
  status = tutti_comm_size(smaller, &left);
  if (status == TUTTI_OK) status = tutti_comm_rank(smaller, &rank);
  if (status == TUTTI_OK && rank == 0) printf("%d of %d ranks go on\n", left, ranks);
  return status;
}

int main(void) {
  tutti_comm_t comm = NULL;
  tutti_status status = tutti_comm_create_from_env(NULL, &comm);
  int rank = 0;
  int ranks = 0;
  if (status == TUTTI_OK) status = tutti_comm_rank(comm, &rank);
  if (status == TUTTI_OK) status = tutti_comm_size(comm, &ranks);

  int round = 0;
  if (status == TUTTI_OK) status = work(comm, rank, &round);
  if (status == TUTTI_ERR_PEER_FAILED) {
    printf("rank %d: %s\n", rank, tutti_last_error());
    status = go_on(&comm, ranks);
    /* Ranks may have failed one call apart: all go on from the first that anybody lacks. */
    if (status == TUTTI_OK)
      status = tutti_allreduce(&round, &round, 1, TUTTI_INT32, TUTTI_MIN, comm);
    if (status == TUTTI_OK) status = work(comm, rank, &round);
  }
  if (status == TUTTI_OK && rank == 0) printf("all %d rounds are done\n", round);

  if (status != TUTTI_OK) fprintf(stderr, "%s\n", tutti_last_error());
  tutti_comm_destroy(comm);
  return status == TUTTI_OK ? 0 : 1;
}
