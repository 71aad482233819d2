/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * A process of a job that uses MPI itself: `launchers_with_mpi LIBRARY LEVEL`, where LEVEL is that
 * of MPI_Init_thread, from 0 to 3. Sums over a communicator of Tutti in between, and prints its
 * place; or, if there can be no communicator, why. Either way its MPI must go on working. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

static void* library;

static void* find(const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) fprintf(stderr, "%s\n", dlerror());
  if (found == NULL) exit(1);
  return found;
}

/* 0, or 1 if a call failed, which is then told on standard output. */
static int sum(void) {
  tutti_comm_t comm;
  int value = 0;
  int rank = 0;
  int size = 0;
  if (tutti_comm_create_from_env(NULL, &comm) != TUTTI_OK) {
    printf("error: %s\n", tutti_last_error());
    return 0;
  }
  tutti_comm_rank(comm, &rank);
  tutti_comm_size(comm, &size);
  value = rank;
  if (tutti_allreduce(&value, &value, 1, TUTTI_INT32, TUTTI_SUM, comm) != TUTTI_OK ||
      value != size * (size - 1) / 2) {
    fprintf(stderr, "rank %d: sum is %d: %s\n", rank, value, tutti_last_error());
    return 1;
  }
  printf("rank %d of %d\n", rank, size);
  return tutti_comm_destroy(comm) != TUTTI_OK;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  /* As an interpreter's extension has it: visible to nobody else. */
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int level = 0;
  int (*init)(int*, char***, int, int*) =
      (int (*)(int*, char***, int, int*))find("MPI_Init_thread");
  int (*finalized)(int*) = (int (*)(int*))find("MPI_Finalized");
  int (*finalize)(void) = (int (*)(void))find("MPI_Finalize");
  if (init(NULL, NULL, atoi(argv[2]), &level) != 0) return 1;
  if (sum() != 0) return 1;
  int is_finalized = 1;
  if (finalized(&is_finalized) != 0 || is_finalized) {
    fprintf(stderr, "MPI was finalised by somebody else\n");
    return 1;
  }
  return finalize();
}
