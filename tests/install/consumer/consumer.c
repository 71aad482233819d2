/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * The smallest program that uses the library: a job of one process.
 */
#include <stdio.h>
#include <tutti/tutti.h>

int main(void) {
  double x = 3;
  tutti_comm_t comm = NULL;
  if (tutti_comm_create_from_env(NULL, &comm) != TUTTI_OK ||
      tutti_allreduce(&x, &x, 1, TUTTI_FLOAT64, TUTTI_SUM, comm) != TUTTI_OK ||
      tutti_comm_destroy(comm) != TUTTI_OK) {
    fprintf(stderr, "%s\n", tutti_last_error());
    return 1;
  }
  return tutti_version() == TUTTI_VERSION && x == 3 ? 0 : 1;
}
