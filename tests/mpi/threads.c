/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * Several threads make calls on one communicator at once: none waits for another's message. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 200 };

static void* exchange(void* tag_of_thread) {
  const int tag = *(int*)tag_of_thread;
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  for (int i = 0; i < ROUNDS; ++i) {
    int out = 1000 * tag + i, in = -1;
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_INT, previous, tag, MPI_COMM_WORLD, &request);
    MPI_Ssend(&out, 1, MPI_INT, next, tag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, out);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = -1, tags[THREADS];
  pthread_t threads[THREADS];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < THREADS; ++i) {
    tags[i] = i;
    pthread_create(&threads[i], NULL, exchange, &tags[i]);
  }
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  return end("threads");
}
