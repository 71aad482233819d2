/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * See server.h.
 */
#define _GNU_SOURCE
#include "server.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static const char* const kNames[COLLECTIVES] = {
    "allreduce", "broadcast", "reduce", "allgather", "reduce_scatter", "alltoall", "barrier"};

/* Large enough that buffers never share a cache line, and that transparent huge pages apply to all
 * contestants alike. */
static const size_t kAlignment = (size_t)2 << 20;

struct session {
  const struct contestant* contestant;
  enum collective collective;
  size_t count;
  size_t recv_count;
  float* send;
  float* recv;
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

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What rank `rank` sends at position `index`: small integers, so that sums are exact. */
static float sent_value(int rank, size_t index) { return (float)((size_t)rank + 1 + index % 13); }

static float expected_value(const struct session* s, size_t index) {
  const int ranks = s->contestant->ranks;
  const size_t rank = (size_t)s->contestant->rank;
  float sum = 0;
  switch (s->collective) {
    case COLLECTIVE_BROADCAST: return sent_value(0, index);
    case COLLECTIVE_ALLGATHER: return sent_value((int)(index / s->count), index % s->count);
    case COLLECTIVE_ALLTOALL:
      return sent_value((int)(index / s->count), rank * s->count + index % s->count);
    case COLLECTIVE_REDUCE_SCATTER: index += rank * s->count; break;
    default: break;
  }
  for (int r = 0; r < ranks; ++r) sum += sent_value(r, index);
  return sum;
}

static void set_sizes(struct session* s, size_t* send_count) {
  const size_t ranks = (size_t)s->contestant->ranks;
  const enum collective c = s->collective;
  *send_count = s->count;
  s->recv_count = s->count;
  if (c == COLLECTIVE_REDUCE_SCATTER || c == COLLECTIVE_ALLTOALL) *send_count *= ranks;
  if (c == COLLECTIVE_ALLGATHER || c == COLLECTIVE_ALLTOALL) s->recv_count *= ranks;
  if (c == COLLECTIVE_BARRIER) *send_count = s->recv_count = 0;
}

static const char* allocate(struct session* s) {
  size_t send_count;
  set_sizes(s, &send_count);
  free(s->send);
  free(s->recv);
  s->send = s->recv = NULL;
  if (posix_memalign((void**)&s->send, kAlignment, send_count * sizeof(float) + 64) != 0 ||
      posix_memalign((void**)&s->recv, kAlignment, s->recv_count * sizeof(float) + 64) != 0)
    return "out of memory";
  for (size_t i = 0; i < send_count; ++i) s->send[i] = sent_value(s->contestant->rank, i);
  return NULL;
}

/* One call on fresh data, and a look at every element of the result. */
static const char* check(struct session* s) {
  static char text[160];
  const struct contestant* c = s->contestant;
  const int is_source = s->collective == COLLECTIVE_BROADCAST && c->rank == 0;
  for (size_t i = 0; i < s->recv_count; ++i) s->recv[i] = is_source ? s->send[i] : -1.0f;
  const char* error = c->call(s->collective, s->send, s->recv, s->count);
  if (error != NULL) return error;
  if (s->collective == COLLECTIVE_REDUCE && c->rank != 0) return NULL;
  for (size_t i = 0; i < s->recv_count; ++i) {
    const float expected = expected_value(s, i);
    if (s->recv[i] == expected) continue;
    snprintf(text, sizeof text, "wrong result: rank %d, index %zu, got %g, expected %g", c->rank, i,
             (double)s->recv[i], (double)expected);
    return text;
  }
  return NULL;
}

static const char* set_up(struct session* s, const char* name, size_t count) {
  s->count = count;
  for (int c = 0; c < COLLECTIVES; ++c) {
    if (strcmp(kNames[c], name) != 0) continue;
    s->collective = (enum collective)c;
    const char* error = allocate(s);
    return error != NULL ? error : check(s);
  }
  return "no such collective";
}

/* Seconds for `calls` back-to-back calls, after `warm_up` calls and a barrier. */
static const char* measure(struct session* s, long calls, long warm_up, double* seconds) {
  const struct contestant* c = s->contestant;
  const char* error = NULL;
  for (long i = 0; i < warm_up && error == NULL; ++i)
    error = c->call(s->collective, s->send, s->recv, s->count);
  if (error == NULL) error = c->call(COLLECTIVE_BARRIER, NULL, NULL, 0);
  const double begin = seconds_now();
  for (long i = 0; i < calls && error == NULL; ++i)
    error = c->call(s->collective, s->send, s->recv, s->count);
  *seconds = seconds_now() - begin;
  return error;
}

static void answer(FILE* out, const char* error, const char* result) {
  if (error != NULL)
    fprintf(out, "error %s\n", error);
  else
    fprintf(out, "ok %s\n", result);
  fflush(out);
}

int serve(const struct contestant* contestant) {
  const int fd = connect_to_driver(contestant->rank, contestant->ranks, contestant->version);
  if (fd < 0) return 1;
  FILE* in = fdopen(fd, "r");
  FILE* out = fdopen(dup(fd), "w");
  if (in == NULL || out == NULL) return 1;

  struct session session = {.contestant = contestant};
  char line[128];
  char name[32];
  char result[32];
  size_t count;
  long calls;
  long warm_up;
  double seconds;
  while (fgets(line, sizeof line, in) != NULL) {
    if (sscanf(line, "setup %31s %zu", name, &count) == 2) {
      answer(out, set_up(&session, name, count), "");
    } else if (sscanf(line, "run %ld %ld", &calls, &warm_up) == 2) {
      const char* error = measure(&session, calls, warm_up, &seconds);
      snprintf(result, sizeof result, "%.9f", seconds);
      answer(out, error, result);
    } else if (strcmp(line, "check\n") == 0) {
      answer(out, check(&session), "");
    } else if (strcmp(line, "quit\n") == 0) {
      break;
    } else {
      answer(out, "no such request", "");
    }
  }
  free(session.send);
  free(session.recv);
  fclose(in);
  fclose(out);
  return 0;
}
