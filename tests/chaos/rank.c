/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * One rank of a job that battery.py disturbs: goes through the phases of a communicator's life and
 * says where it is, a line each, with the monotonic clock's seconds before it:
 *
 *   at PHASE        in front of the phase that is disturbed, or in its calls
 *   id HEX          of rank 0, for the newcomer
 *   wrong           a call in the phase `call` gave another result than it should
 *   end STATUS TEXT what the phase came to
 *
 *   rank PHASE COLLECTIVE COUNT [newcomer]
 *
 * A line on the standard input lets it go on. PHASE: create idle call split shrink grow end.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tutti/tutti.h>
#include <unistd.h>

static const char* phase;
static float* send_buffer;
static float* recv_buffer;

static void say(const char* word, const char* rest, const char* text) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("%ld.%06ld %s %s %s\n", (long)now.tv_sec, now.tv_nsec / 1000, word, rest, text);
  fflush(stdout);
}

static void read_line(char* line, int size) {
  if (fgets(line, size, stdin) == NULL) exit(2); /* the driver has ended */
}

static int is_phase(const char* name) { return strcmp(phase, name) == 0; }

static void gate(const char* name) {
  char line[16];
  if (!is_phase(name)) return;
  say("at", name, "");
  read_line(line, sizeof line);
}

static tutti_status call(const char* collective, size_t count, int ranks, tutti_comm_t comm) {
  const size_t each = count / (size_t)ranks;
  const tutti_type type = TUTTI_FLOAT32;
  if (strcmp(collective, "broadcast") == 0)
    return tutti_broadcast(send_buffer, count, type, 0, comm);
  if (strcmp(collective, "allgather") == 0)
    return tutti_allgather(send_buffer, recv_buffer, each, type, comm);
  if (strcmp(collective, "reduce_scatter") == 0)
    return tutti_reduce_scatter(send_buffer, recv_buffer, each, type, TUTTI_SUM, comm);
  if (strcmp(collective, "alltoall") == 0)
    return tutti_alltoall(send_buffer, recv_buffer, each, type, comm);
  if (strcmp(collective, "barrier") == 0) return tutti_barrier(comm);
  return tutti_allreduce(send_buffer, recv_buffer, count, type, TUTTI_SUM, comm);
}

/* All ranks send zeros. */
static int is_wrong(size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (send_buffer[i] != 0 || recv_buffer[i] != 0) return 1;
  return 0;
}

/* Calls until a rank has been told to go on, which all learn in one and the same round. */
static tutti_status call_on(const char* collective, size_t count, int ranks, tutti_comm_t comm) {
  for (int round = 0;; ++round) {
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    int stop = poll(&input, 1, 0) > 0;
    tutti_status status = call(collective, count, ranks, comm);
    if (status == TUTTI_OK && is_wrong(count)) say("wrong", "", "");
    if (status == TUTTI_OK) status = tutti_allreduce(&stop, &stop, 1, TUTTI_INT32, TUTTI_MAX, comm);
    if (status != TUTTI_OK || stop) return status;
    if (round == 10) say("at", "call", "");
  }
}

static void say_id(const tutti_unique_id* id) {
  char hex[2 * sizeof id->bytes + 1];
  for (size_t i = 0; i < sizeof id->bytes; ++i) snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
  say("id", hex, "");
}

static void read_id(tutti_unique_id* id) {
  char hex[2 * sizeof id->bytes + 2];
  read_line(hex, sizeof hex);
  for (size_t i = 0; i < sizeof id->bytes; ++i) {
    unsigned byte = 0;
    sscanf(hex + 2 * i, "%2x", &byte);
    id->bytes[i] = (unsigned char)byte;
  }
}

/* The phase that makes another communicator of `comm`, if it is one; a call shows that it works. */
static tutti_status make_another(int rank, tutti_comm_t comm) {
  tutti_comm_t made = NULL;
  tutti_status status = TUTTI_OK;
  gate("split");
  if (is_phase("split")) status = tutti_comm_split(comm, 0, rank, NULL, &made);
  gate("shrink");
  if (is_phase("shrink")) status = tutti_comm_shrink(comm, NULL, &made);
  if (is_phase("grow")) {
    tutti_unique_id id;
    if (rank == 0) {
      status = tutti_get_unique_id(&id);
      say_id(&id);
    }
    gate("grow");
    if (status == TUTTI_OK) status = tutti_comm_grow(comm, rank == 0 ? &id : NULL, 1, NULL, &made);
  }
  if (status == TUTTI_OK && made != NULL) status = tutti_barrier(made);
  if (status == TUTTI_OK) status = tutti_comm_destroy(made);
  return status;
}

static tutti_status join(tutti_comm_t* comm) {
  tutti_unique_id id;
  read_id(&id);
  const tutti_status status = tutti_comm_join(&id, 0, 1, NULL, comm);
  return status == TUTTI_OK ? tutti_barrier(*comm) : status;
}

static tutti_status live(const char* collective, size_t count, tutti_comm_t* comm) {
  int rank = 0;
  int ranks = 0;
  gate("create");
  tutti_status status = tutti_comm_create_from_env(NULL, comm);
  if (status != TUTTI_OK) return status;
  tutti_comm_rank(*comm, &rank);
  tutti_comm_size(*comm, &ranks);
  status = call(collective, count, ranks, *comm);
  if (status != TUTTI_OK) return status;
  if (is_phase("call")) return call_on(collective, count, ranks, *comm);
  gate("idle");
  if (is_phase("idle")) status = call(collective, count, ranks, *comm);
  if (status == TUTTI_OK) status = make_another(rank, *comm);
  gate("end");
  return status;
}

static void say_end(tutti_status status, const char* text) {
  char line[2048];
  size_t length = 0;
  for (; text[length] != '\0' && length + 1 < sizeof line; ++length)
    line[length] = text[length] == '\n' ? ' ' : text[length];
  line[length] = '\0';
  say("end", tutti_status_name(status), line);
}

/* So that it is memory that lacks in the end, and not the stack, of which no program is told. */
static void grow_stack(void) {
  volatile char pages[1 << 20];
  for (size_t i = 0; i < sizeof pages; i += 4096) pages[i] = 1;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  grow_stack();
  phase = argv[1];
  const size_t count = strtoul(argv[3], NULL, 10);
  send_buffer = calloc(count + 1, sizeof(float));
  recv_buffer = calloc(count + 1, sizeof(float));
  tutti_comm_t comm = NULL;
  tutti_status status = argc > 4 ? join(&comm) : live(argv[2], count, &comm);
  const int failed = status != TUTTI_OK;
  if (failed) say_end(status, tutti_last_error());
  status = tutti_comm_destroy(comm);
  if (!failed) say_end(status, status == TUTTI_OK ? "" : tutti_last_error());
  free(send_buffer);
  free(recv_buffer);
  return 0;
}
