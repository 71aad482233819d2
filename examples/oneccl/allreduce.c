/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * A program of oneCCL's C API. The id goes from rank 0 to the others through a file.
 *
 *   . DIR/env/setvars.sh --oneccl
 *   cc examples/oneccl/allreduce.c -lccl -o allreduce
 *   folder=$(mktemp -d)
 *   tutti run -n 2 sh -c "./allreduce $folder/id \$RANK \$WORLD_SIZE"
 */
#include <oneapi/ccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                 \
  do {                                                              \
    if ((call) != onecclSuccess) {                                  \
      fprintf(stderr, "%s: %s\n", #call, onecclGetLastError(NULL)); \
      exit(1);                                                      \
    }                                                               \
  } while (0)

/* Written under another name first, so that nobody reads half of it. */
static void give(const onecclUniqueId* id, const char* path) {
  char unfinished[4096];
  FILE* file;
  snprintf(unfinished, sizeof(unfinished), "%s.unfinished", path);
  file = fopen(unfinished, "wb");
  if (file == NULL || fwrite(id, sizeof(*id), 1, file) != 1 || fclose(file) != 0 ||
      rename(unfinished, path) != 0) {
    perror(path);
    exit(1);
  }
}

static void take(onecclUniqueId* id, const char* path) {
  FILE* file;
  while ((file = fopen(path, "rb")) == NULL) {
  }
  if (fread(id, sizeof(*id), 1, file) != 1) exit(1);
  fclose(file);
}

int main(int argc, char** argv) {
  int rank, ranks;
  onecclUniqueId id;
  onecclComm_t comm;
  float mine, sum = 0;
  if (argc != 4) {
    fprintf(stderr, "usage: %s FILE RANK RANKS\n", argv[0]);
    return 2;
  }
  rank = atoi(argv[2]);
  ranks = atoi(argv[3]);
  mine = (float)(rank + 1);
  memset(&id, 0, sizeof(id));
  if (rank == 0) {
    CHECK(onecclGetUniqueId(&id));
    give(&id, argv[1]);
  } else {
    take(&id, argv[1]);
  }
  CHECK(onecclCommInitRank(&comm, (size_t)ranks, id, rank));
  CHECK(onecclAllReduce(&mine, &sum, 1, onecclFloat, onecclSum, comm, NULL));
  CHECK(onecclCommDestroy(comm));
  printf("rank %d of %d: the sum is %g\n", rank, ranks, sum);
  return sum != (float)(ranks * (ranks + 1) / 2);
}
