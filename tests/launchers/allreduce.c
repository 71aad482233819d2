/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * A process of a job under any launcher: makes two communicators from the environment, sums over
 * both, and prints its place. With the argument --until-error it then goes on until a sum fails,
 * and prints why. */
#include <stdio.h>
#include <string.h>
#include <tutti/tutti.h>

#define CHECK(call)                                           \
  do {                                                        \
    if ((call) != TUTTI_OK) {                                 \
      fprintf(stderr, "%s: %s\n", #call, tutti_last_error()); \
      return 1;                                               \
    }                                                         \
  } while (0)

/* More than fits into one message of any transport, and with a tail. */
enum { kCount = 100003 };
static int values[kCount];

static int sum_until_error(tutti_comm_t comm) {
  fflush(stdout);
  while (tutti_allreduce(values, values, 100, TUTTI_INT32, TUTTI_SUM, comm) == TUTTI_OK) {
  }
  printf("%s\n", tutti_last_error());
  return 0;
}

int main(int argc, char** argv) {
  tutti_comm_t comms[2];
  int rank = 0;
  int size = 0;
  for (int c = 0; c < 2; ++c) CHECK(tutti_comm_create_from_env(NULL, &comms[c]));
  CHECK(tutti_comm_rank(comms[0], &rank));
  CHECK(tutti_comm_size(comms[0], &size));
  for (int c = 0; c < 2; ++c) {
    for (int i = 0; i < kCount; ++i) values[i] = i + rank + c;
    CHECK(tutti_allreduce(values, values, kCount, TUTTI_INT32, TUTTI_SUM, comms[c]));
    for (int i = 0; i < kCount; ++i) {
      const int expected = size * (i + c) + size * (size - 1) / 2;
      if (values[i] == expected) continue;
      fprintf(stderr, "rank %d: element %d is %d, expected %d\n", rank, i, values[i], expected);
      return 1;
    }
  }
  printf("rank %d of %d\n", rank, size);
  if (argc > 1 && strcmp(argv[1], "--until-error") == 0) return sum_until_error(comms[0]);
  for (int c = 0; c < 2; ++c) CHECK(tutti_comm_destroy(comms[c]));
  return 0;
}
