/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * The smallest program: each rank contributes its number, all learn the sum.
 *
 *   cc examples/allreduce.c $(pkg-config --cflags --libs tutti) -o allreduce
 *   tutti run -n 4 ./allreduce
 */
#include <stdio.h>
#include <tutti/tutti.h>

int main(void) {
  tutti_comm_t comm = NULL;
  /* Rank and number of ranks come from the launcher; without one it is a job of one process. */
  tutti_status status = tutti_comm_create_from_env(NULL, &comm);
  int rank = 0;
  int ranks = 0;
  if (status == TUTTI_OK) status = tutti_comm_rank(comm, &rank);
  if (status == TUTTI_OK) status = tutti_comm_size(comm, &ranks);

  float value = (float)rank;
  /* In place: the buffer is sent and received. Blocks until the sum is there. */
  if (status == TUTTI_OK)
    status = tutti_allreduce(&value, &value, 1, TUTTI_FLOAT32, TUTTI_SUM, comm);
  if (status == TUTTI_OK) printf("rank %d of %d: the sum of all ranks is %g\n", rank, ranks, value);

  if (status != TUTTI_OK) fprintf(stderr, "%s\n", tutti_last_error());
  tutti_comm_destroy(comm);
  return status == TUTTI_OK ? 0 : 1;
}
