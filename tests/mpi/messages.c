/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * Messages: any source, probes, requests in lists, persistent ones, types with gaps, cancelling. */
#include "check.h"

static int next, previous;

static void ring(void) {
  int out = rank, in = -1;
  MPI_Status status;
  MPI_Sendrecv(&out, 1, MPI_INT, next, 3, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
               MPI_COMM_WORLD, &status);
  CHECK_EQUAL(in, previous);
  CHECK_EQUAL(status.MPI_SOURCE, previous);
  CHECK_EQUAL(status.MPI_TAG, 3);
  int count = -1;
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQUAL(count, 1);
  MPI_Sendrecv_replace(&out, 1, MPI_INT, next, 4, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQUAL(out, previous);
  MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
  CHECK_EQUAL(in, previous);
}

static void probes(void) {
  const int sizes[] = {0, 1, 1000, 100000};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    const int size = sizes[i];
    const int tag = 100 + (int)i; /* nobody else uses it: the peer may be ahead */
    char* out = malloc((size_t)size + 1);
    char* in = malloc((size_t)size + 1);
    memset(out, rank, (size_t)size);
    MPI_Request request;
    MPI_Status status;
    int count = -1, flag = 0;
    MPI_Isend(out, size, MPI_CHAR, next, tag, MPI_COMM_WORLD, &request);
    MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_CHAR, &count);
    CHECK_EQUAL(count, size);
    CHECK_EQUAL(status.MPI_SOURCE, previous);
    MPI_Message message;
    while (!flag) MPI_Improbe(previous, tag, MPI_COMM_WORLD, &flag, &message, &status);
    /* It is taken: another look does not find it. */
    MPI_Iprobe(previous, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK_EQUAL(flag, 0);
    MPI_Mrecv(in, size, MPI_CHAR, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL);
    for (int j = 0; j < size; ++j) CHECK_EQUAL(in[j], previous);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(out);
    free(in);
  }
}

static void lists(void) {
  enum { MANY = 8 };
  int out[MANY], in[MANY], indices[MANY], done = 0, index = -1, flag = -1;
  MPI_Request requests[2 * MANY];
  MPI_Status statuses[2 * MANY];
  for (int i = 0; i < MANY; ++i) {
    out[i] = 10 * rank + i;
    MPI_Irecv(&in[i], 1, MPI_INT, previous, i, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = MANY; i-- > 0;)
    MPI_Ssend_init(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &requests[MANY + i]);
  MPI_Startall(MANY, requests + MANY);
  while (done < MANY) {
    int found = 0;
    MPI_Waitsome(MANY, requests, &found, indices, statuses);
    CHECK(found > 0);
    for (int i = 0; i < found; ++i) {
      CHECK_EQUAL(statuses[i].MPI_TAG, indices[i]);
      CHECK_EQUAL(in[indices[i]], 10 * previous + indices[i]);
    }
    done += found;
  }
  MPI_Waitall(2 * MANY, requests, statuses);
  for (int i = 0; i < MANY; ++i) {
    CHECK(requests[i] == MPI_REQUEST_NULL);
    CHECK(requests[MANY + i] != MPI_REQUEST_NULL);
    MPI_Request_free(&requests[MANY + i]);
  }
  MPI_Waitany(2 * MANY, requests, &index, statuses);
  CHECK_EQUAL(index, MPI_UNDEFINED);
  MPI_Testany(2 * MANY, requests, &index, &flag, statuses);
  CHECK_EQUAL(flag, 1);
  CHECK_EQUAL(index, MPI_UNDEFINED);
  /* Nothing comes for the first of two. */
  int never = 7;
  MPI_Irecv(&never, 1, MPI_INT, previous, 99, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&in[0], 1, MPI_INT, previous, 98, MPI_COMM_WORLD, &requests[1]);
  MPI_Send(&out[0], 1, MPI_INT, next, 98, MPI_COMM_WORLD);
  MPI_Waitany(2, requests, &index, statuses);
  CHECK_EQUAL(index, 1);
  MPI_Test(&requests[0], &flag, statuses);
  CHECK_EQUAL(flag, 0);
  MPI_Cancel(&requests[0]);
  MPI_Wait(&requests[0], statuses);
  MPI_Test_cancelled(statuses, &flag);
  CHECK_EQUAL(flag, 1);
  CHECK_EQUAL(never, 7);
}

static void buffered(void) {
  char memory[2 * (100 + MPI_BSEND_OVERHEAD)], out[100], in[100];
  void* returned = NULL;
  int size = 0;
  memset(out, 'a' + rank, sizeof(out));
  MPI_Buffer_attach(memory, sizeof(memory));
  for (int i = 0; i < 2; ++i) MPI_Bsend(out, sizeof(out), MPI_CHAR, next, i, MPI_COMM_WORLD);
  for (int i = 0; i < 2; ++i) {
    MPI_Recv(in, sizeof(in), MPI_CHAR, previous, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in[99], 'a' + previous);
  }
  MPI_Buffer_detach(&returned, &size);
  CHECK(returned == memory);
  CHECK_EQUAL(size, sizeof(memory));
}

/* Columns of a matrix become rows. */
static void types(void) {
  enum { SIDE = 4 };
  int out[SIDE][SIDE], in[SIDE][SIDE];
  for (int i = 0; i < SIDE * SIDE; ++i) out[i / SIDE][i % SIDE] = 100 * rank + i;
  MPI_Datatype column, columns;
  MPI_Type_vector(SIDE, 1, SIDE, MPI_INT, &column);
  MPI_Type_create_resized(column, 0, sizeof(int), &columns);
  MPI_Type_commit(&column);
  MPI_Type_commit(&columns);
  MPI_Sendrecv(out, SIDE, columns, next, 0, in, SIDE * SIDE, MPI_INT, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int i = 0; i < SIDE; ++i) {
    for (int j = 0; j < SIDE; ++j) CHECK_EQUAL(in[i][j], 100 * previous + SIDE * j + i);
  }
  MPI_Request request;
  memset(in, 0, sizeof(in));
  MPI_Irecv(&in[0][1], 1, column, previous, 1, MPI_COMM_WORLD, &request);
  MPI_Send(out, SIDE, MPI_INT, next, 1, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < SIDE; ++i) {
    CHECK_EQUAL(in[i][1], 100 * previous + i);
    CHECK_EQUAL(in[i][0], 0);
  }
  char packed[64];
  int position = 0;
  MPI_Pack(out, 1, column, packed, sizeof(packed), &position, MPI_COMM_WORLD);
  CHECK_EQUAL(position, SIDE * sizeof(int));
  MPI_Type_free(&column);
  MPI_Type_free(&columns);
}

/* No message meets these, and MPI_Finalize does not wait for one. */
static void unmet(void) {
  static char data[8 << 20], place[1];
  MPI_Request request;
  MPI_Isend(data, sizeof(data), MPI_CHAR, next, 98, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  MPI_Irecv(place, 1, MPI_CHAR, previous, 99, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  next = (rank + 1) % ranks;
  previous = (rank + ranks - 1) % ranks;
  ring();
  probes();
  lists();
  buffered();
  types();
  unmet();
  return end("messages");
}
