/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * tutti.h from C99: two processes, started by fork, meet through a unique id and sum a vector.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <tutti/tutti.h>
#include <unistd.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    const tutti_status status = (call);                                                      \
    if (status != TUTTI_OK) {                                                                \
      fprintf(stderr, "%s: %s: %s\n", #call, tutti_status_name(status), tutti_last_error()); \
      return 1;                                                                              \
    }                                                                                        \
  } while (0)

static int asked = 0;
static const char* choose(void* context, const tutti_tuner_query* query) {
  (void)query;
  ++asked;
  return (const char*)context;
}

static int run_rank(int rank, const tutti_unique_id* id) {
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  tutti_tuner tuner = {sizeof(tutti_tuner), choose, NULL};
  char algorithm[] = "two_shot";
  tutti_comm_t comm = NULL;
  tutti_request_t request = NULL;
  float values[3] = {1, 2, 3};
  int32_t token = rank == 0 ? 42 : 0;

  config.name = "from C";
  tuner.context = algorithm;
  config.tuner = &tuner;
  CHECK(tutti_comm_create(id, rank, 2, &config, &comm));
  CHECK(tutti_allreduce(values, values, 3, TUTTI_FLOAT32, TUTTI_SUM, comm));
  CHECK(tutti_ibroadcast(&token, 1, TUTTI_INT32, 0, comm, &request));
  CHECK(tutti_request_wait(request));
  CHECK(tutti_request_free(request));
  CHECK(tutti_comm_destroy(comm));
  if (values[0] != 2 || values[1] != 4 || values[2] != 6 || token != 42 || asked == 0) {
    fprintf(stderr, "rank %d has %g %g %g and %d, its tuner was asked %d times\n", rank, values[0],
            values[1], values[2], token, asked);
    return 1;
  }
  return 0;
}

int main(void) {
  int ends[2];
  tutti_unique_id id;
  int status = 0;
  int result;
  pid_t child;

  if (tutti_version() != TUTTI_VERSION || tutti_type_size(TUTTI_BFLOAT16) != 2) return 1;
  if (pipe(ends) != 0) return 1;
  child = fork(); /* before any call that starts a thread */
  if (child < 0) return 1;
  if (child == 0) {
    if (read(ends[0], &id, sizeof(id)) != (ssize_t)sizeof(id)) return 1;
    return run_rank(1, &id);
  }
  CHECK(tutti_get_unique_id(&id));
  if (write(ends[1], &id, sizeof(id)) != (ssize_t)sizeof(id)) return 1;
  result = run_rank(0, &id);
  if (waitpid(child, &status, 0) != child || status != 0) return 1;
  return result;
}
