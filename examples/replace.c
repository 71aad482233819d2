/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * A job that replaces a rank that was killed: the others shrink the communicator, start a new
 * process and grow again. They hand it an id, and the round to go on with by a broadcast.
 *
 *   cc examples/replace.c $(pkg-config --cflags --libs tutti) -o replace
 *   tutti run -n 3 --keep-going ./replace
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <tutti/tutti.h>
#include <unistd.h>

enum { ROUNDS = 20 };

/* The rounds from *round on; on an error *round is the one that failed. */
static tutti_status work(tutti_comm_t comm, int victim, int* round) {
  for (; *round < ROUNDS; ++*round) {
    if (victim && *round == ROUNDS / 2) kill(getpid(), SIGKILL);
    float value = 1;
    const tutti_status status = tutti_allreduce(&value, &value, 1, TUTTI_FLOAT32, TUTTI_SUM, comm);
    if (status != TUTTI_OK) return status;
  }
  return TUTTI_OK;
}

/* Starts this program again as a newcomer, which reads the id from its standard input: it holds a
 * secret, so it is no argument. Returns its pid, -1 on an error. */
static pid_t start_newcomer(char* program, const tutti_unique_id* id) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl("/proc/self/exe", program, "newcomer", (char*)NULL);
    _exit(127);
  }
  close(ends[0]);
  const ssize_t written = write(ends[1], id, sizeof *id);
  close(ends[1]);
  return written == (ssize_t)sizeof *id ? pid : -1;
}

/* Replaces the broken communicator by one with as many ranks as before. */
static tutti_status replace_lost(tutti_comm_t* comm, char* program, pid_t* newcomer) {
  tutti_comm_t left = NULL;
  tutti_status status = tutti_comm_shrink(*comm, NULL, &left);
  if (status != TUTTI_OK) return status;
  tutti_comm_destroy(*comm);
  *comm = left;
  int rank = 0;
  status = tutti_comm_rank(left, &rank);
  tutti_unique_id id;
  if (status == TUTTI_OK && rank == 0) {
    status = tutti_get_unique_id(&id);
    if (status == TUTTI_OK) *newcomer = start_newcomer(program, &id);
  }
  tutti_comm_t whole = NULL;
  if (status == TUTTI_OK) status = tutti_comm_grow(left, rank == 0 ? &id : NULL, 1, NULL, &whole);
  if (status != TUTTI_OK) return status;
  tutti_comm_destroy(left);
  *comm = whole;
  return TUTTI_OK;
}

/* All go on from the first round that anybody lacks; the newcomer lacks none. */
static tutti_status finish(tutti_comm_t comm, int round) {
  int rank = 0;
  int ranks = 0;
  tutti_status status = tutti_comm_rank(comm, &rank);
  if (status == TUTTI_OK) status = tutti_comm_size(comm, &ranks);
  if (status == TUTTI_OK) status = tutti_allreduce(&round, &round, 1, TUTTI_INT32, TUTTI_MIN, comm);
  if (status == TUTTI_OK && rank == 0) printf("%d ranks go on with round %d\n", ranks, round);
  if (status == TUTTI_OK) status = work(comm, 0, &round);
  if (status == TUTTI_OK && rank == 0) printf("all %d rounds are done\n", round);
  return status;
}

static tutti_status run_newcomer(tutti_comm_t* comm) {
  tutti_unique_id id;
  if (fread(&id, sizeof id, 1, stdin) != 1) return TUTTI_ERR_SYSTEM;
  const tutti_status status = tutti_comm_join(&id, 0, 1, NULL, comm);
  return status == TUTTI_OK ? finish(*comm, ROUNDS) : status;
}

static tutti_status run_rank(tutti_comm_t* comm, char* program, pid_t* newcomer) {
  int rank = 0;
  int round = 0;
  tutti_status status = tutti_comm_create_from_env(NULL, comm);
  if (status == TUTTI_OK) status = tutti_comm_rank(*comm, &rank);
  if (status == TUTTI_OK) status = work(*comm, rank == 1, &round);
  if (status != TUTTI_ERR_PEER_FAILED) return status;
  printf("rank %d: %s\n", rank, tutti_last_error());
  status = replace_lost(comm, program, newcomer);
  return status == TUTTI_OK ? finish(*comm, round) : status;
}

int main(int argc, char** argv) {
  tutti_comm_t comm = NULL;
  pid_t newcomer = -1;
  const int joins = argc > 1 && strcmp(argv[1], "newcomer") == 0;
  const tutti_status status = joins ? run_newcomer(&comm) : run_rank(&comm, argv[0], &newcomer);
  if (status != TUTTI_OK) fprintf(stderr, "%s\n", tutti_last_error());
  tutti_comm_destroy(comm);
  if (newcomer > 0) waitpid(newcomer, NULL, 0);
  return status == TUTTI_OK ? 0 : 1;
}
