/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * The calls of rank.c over an MPI, for rivals.py: says its pid, calls until an error, says that. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  float* send = calloc((size_t)count, sizeof(float));
  float* recv = calloc((size_t)count, sizeof(float));
  int error = MPI_SUCCESS;
  for (int round = 0; error == MPI_SUCCESS; ++round) {
    error = MPI_Allreduce(send, recv, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (round == 10) {
      printf("at %d %d\n", rank, (int)getpid());
      fflush(stdout);
    }
  }
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, text, &length);
  printf("end %d %s\n", rank, text);
  fflush(stdout);
  _exit(0);
}
