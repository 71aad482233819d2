/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * See server.h.
 */
#define _GNU_SOURCE
#include "server.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static const char* const kNames[COLLECTIVES] = {
    "allreduce", "broadcast", "reduce",  "allgather", "reduce_scatter",
    "alltoall",  "gather",    "scatter", "sendrecv",  "barrier"};
static const char* const kTypeNames[TYPES] = {"float32", "bfloat16"};

struct session {
  const struct contestant* contestant;
  struct operation operation;
  struct buffers buffers;
  FILE* out;
};

static int rank_from_environment(void) {
  static const char* const kVariables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK"};
  for (size_t i = 0; i < sizeof kVariables / sizeof *kVariables; ++i) {
    const char* value = getenv(kVariables[i]);
    if (value != NULL) return atoi(value);
  }
  return 0;
}

void pin_to_core(void) {
  const char* cores = getenv("VERSUS_CORES");
  if (cores == NULL || *cores == '\0') return;
  for (int rank = rank_from_environment(); rank > 0; --rank) {
    cores = strchr(cores, ',');
    if (cores == NULL) {
      fprintf(stderr, "VERSUS_CORES has fewer cores than there are ranks\n");
      exit(1);
    }
    ++cores;
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)atoi(cores), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    perror("sched_setaffinity");
    exit(1);
  }
}

int integer_from_environment(const char* name) {
  const char* value = getenv(name);
  if (value != NULL) return atoi(value);
  fprintf(stderr, "%s is not set: start this through versus.py\n", name);
  exit(1);
}

int connect_to_driver(int rank, int ranks, const char* version) {
  const char* path = getenv("VERSUS_SOCKET");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (path == NULL || strlen(path) >= sizeof address.sun_path) {
    fprintf(stderr, "VERSUS_SOCKET is not set, or too long: start this through versus.py\n");
    return -1;
  }
  strcpy(address.sun_path, path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (const struct sockaddr*)&address, sizeof address) != 0) {
    perror(path);
    return -1;
  }
  dprintf(fd, "hello %d %d %ld %s\n", rank, ranks, (long)getpid(), version);
  return fd;
}

static int64_t nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static const char* call_next(struct session* s) {
  if (s->buffers.sets > 1) take_next_set(&s->buffers, &s->operation);
  return s->contestant->call(&s->operation);
}

static const char* barrier(const struct session* s) {
  const struct operation operation = {.collective = COLLECTIVE_BARRIER};
  return s->contestant->call(&operation);
}

/* One call on fresh data, and a look at every element of the result. */
static const char* check(struct session* s) {
  take_next_set(&s->buffers, &s->operation);
  write_input(&s->buffers, &s->operation);
  const char* error = s->contestant->call(&s->operation);
  return error != NULL ? error : wrong_element(&s->buffers, &s->operation);
}

static int find(const char* name, const char* const* names, int count) {
  int i = 0;
  while (i < count && strcmp(names[i], name) != 0) ++i;
  return i;
}

/* Sets the operation's collective by its name, to COLLECTIVES if there is none of it. Of those that
 * have blocks there is a form for uneven ones as well, whose name ends with a v. */
static void set_collective(struct operation* o, char* name) {
  o->uneven = 0;
  o->collective = (enum collective)find(name, kNames, COLLECTIVES);
  const size_t length = strlen(name);
  if (o->collective != COLLECTIVES || length == 0 || name[length - 1] != 'v') return;
  name[length - 1] = '\0';
  const int stem = find(name, kNames, COLLECTIVES);
  o->uneven = stem >= COLLECTIVE_ALLGATHER && stem <= COLLECTIVE_SCATTER;
  if (o->uneven) o->collective = (enum collective)stem;
}

static const char* set_up(struct session* s, const char* arguments) {
  char collective[32];
  char type[32];
  char placement[32];
  char form[32];
  size_t count;
  size_t sets;
  if (sscanf(arguments, "%31s %31s %zu %zu %31s %31s", collective, type, &count, &sets, placement,
             form) != 6)
    return "setup takes COLLECTIVE TYPE COUNT SETS PLACEMENT FORM";
  struct operation* o = &s->operation;
  set_collective(o, collective);
  o->type = (enum type)find(type, kTypeNames, TYPES);
  o->count = count;
  o->in_place = strcmp(placement, "in-place") == 0;
  o->nonblocking = strcmp(form, "nonblocking") == 0;
  if (o->uneven && s->contestant->ranks > MOST_RANKS) return NOT_OFFERED "so many ranks";
  if (o->collective == COLLECTIVES || o->type == TYPES || sets == 0)
    return NOT_OFFERED "no such collective or type";
  const char* error = set_up_buffers(&s->buffers, o, sets);
  return error != NULL ? error : check(s);
}

static const char* warm_up(struct session* s, long calls) {
  const char* error = NULL;
  for (long i = 0; i < calls && error == NULL; ++i) error = call_next(s);
  return error != NULL ? error : barrier(s);
}

/* Answers the seconds of `calls` back-to-back calls. */
static const char* run(struct session* s, long calls) {
  const char* error = NULL;
  const int64_t begin = nanoseconds(CLOCK_MONOTONIC);
  for (long i = 0; i < calls && error == NULL; ++i) error = call_next(s);
  const int64_t end = nanoseconds(CLOCK_MONOTONIC);
  if (error == NULL) fprintf(s->out, "ok %.9f\n", 1e-9 * (double)(end - begin));
  return error;
}

/* Uniform in 0..most nanoseconds; the same for a rank and call of every contestant. */
static int64_t random_delay(uint64_t* state, int64_t most) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((*state >> 33) * (uint64_t)(most + 1) >> 31);
}

/* Answers begin and end of each of `calls` calls, in nanoseconds of the clock that all processes
 * share. Before each the rank is busy for up to skew_us microseconds. */
static const char* run_each(struct session* s, long calls, long skew_us, long seed) {
  const char* error = NULL;
  uint64_t state = (uint64_t)seed * 1000003u + (uint64_t)s->contestant->rank;
  int64_t* times = malloc(sizeof *times * 2 * (size_t)calls);
  if (times == NULL) return "out of memory";
  for (long i = 0; i < calls && error == NULL; ++i) {
    const int64_t start = nanoseconds(CLOCK_MONOTONIC) + random_delay(&state, skew_us * 1000);
    do times[2 * i] = nanoseconds(CLOCK_MONOTONIC);
    while (times[2 * i] < start && skew_us > 0);
    error = call_next(s);
    times[2 * i + 1] = nanoseconds(CLOCK_MONOTONIC);
  }
  if (error == NULL) {
    fprintf(s->out, "ok");
    for (long i = 0; i < 2 * calls; ++i) fprintf(s->out, " %lld", (long long)times[i]);
    fprintf(s->out, "\n");
  }
  free(times);
  return error;
}

/* In each call one rank comes `ms` milliseconds late: the root where the others wait for it, else
 * the last. Answers the seconds the process computed in these calls and those that passed; the
 * late rank answers zeros. */
static const char* wait_for_late(struct session* s, long calls, long ms) {
  const struct contestant* c = s->contestant;
  const int from_root = s->operation.collective == COLLECTIVE_BROADCAST ||
                        s->operation.collective == COLLECTIVE_SCATTER;
  const int late = c->rank == (from_root ? 0 : c->ranks - 1);
  const struct timespec delay = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
  const char* error = NULL;
  int64_t computed = 0;
  int64_t passed = 0;
  for (long i = 0; i < calls && error == NULL; ++i) {
    error = barrier(s);
    if (late) nanosleep(&delay, NULL);
    const int64_t begin = nanoseconds(CLOCK_MONOTONIC);
    const int64_t used = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    if (error == NULL) error = call_next(s);
    if (late) continue;
    computed += nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - used;
    passed += nanoseconds(CLOCK_MONOTONIC) - begin;
  }
  if (error == NULL)
    fprintf(s->out, "ok %.9f %.9f\n", 1e-9 * (double)computed, 1e-9 * (double)passed);
  return error;
}

/* NULL after an answer, or the error that is one. */
static const char* handle(struct session* s, const char* line) {
  long calls;
  long warm;
  long skew_us;
  long seed;
  const char* error;
  if (strncmp(line, "setup ", 6) == 0 || strcmp(line, "check\n") == 0) {
    error = *line == 's' ? set_up(s, line + 6) : check(s);
    if (error == NULL) fprintf(s->out, "ok\n");
    return error;
  }
  if (sscanf(line, "run %ld %ld", &calls, &warm) == 2) {
    error = warm_up(s, warm);
    return error != NULL ? error : run(s, calls);
  }
  if (sscanf(line, "each %ld %ld %ld %ld", &calls, &warm, &skew_us, &seed) == 4) {
    error = warm_up(s, warm);
    return error != NULL ? error : run_each(s, calls, skew_us, seed);
  }
  if (sscanf(line, "late %ld %ld", &calls, &warm) == 2) return wait_for_late(s, calls, warm);
  return "no such request";
}

int serve(const struct contestant* contestant) {
  const int fd = connect_to_driver(contestant->rank, contestant->ranks, contestant->version);
  if (fd < 0) return 1;
  struct session session = {.contestant = contestant};
  session.buffers.rank = contestant->rank;
  session.buffers.ranks = contestant->ranks;
  FILE* in = fdopen(fd, "r");
  session.out = fdopen(dup(fd), "w");
  if (in == NULL || session.out == NULL) return 1;
  char line[128];
  while (fgets(line, sizeof line, in) != NULL && strcmp(line, "quit\n") != 0) {
    const char* error = handle(&session, line);
    if (error != NULL) fprintf(session.out, "error %s\n", error);
    fflush(session.out);
  }
  free(session.buffers.send);
  free(session.buffers.recv);
  fclose(in);
  fclose(session.out);
  return 0;
}
