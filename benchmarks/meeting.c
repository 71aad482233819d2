// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How long many ranks take to become a communicator, and what each holds then:
//   tutti run -n 1000 build/release/bin/meeting
// Rank 0 prints the time of the slowest rank, from the start of its first call, and the most memory
// and descriptors of any rank.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <tutti/tutti.h>

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int descriptors(void) {
  DIR* const folder = opendir("/proc/self/fd");
  int count = -1;  // the folder itself
  while (folder != NULL && readdir(folder) != NULL) ++count;
  if (folder != NULL) closedir(folder);
  return count - 2;  // . and ..
}

static int failed(const char* what) {
  fprintf(stderr, "meeting: %s: %s\n", what, tutti_last_error());
  return 1;
}

int main(void) {
  tutti_comm_t comm;
  const double begun = now_s();
  if (tutti_comm_create_from_env(NULL, &comm) != TUTTI_OK) return failed("create");
  const double met = now_s();
  if (tutti_barrier(comm) != TUTTI_OK) return failed("barrier");
  const double first = now_s();
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  // seconds to meet, seconds of the first barrier, KB of memory, seconds of processor, descriptors
  const double cpu_s = (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec +
                       (double)used.ru_stime.tv_sec + 1e-6 * (double)used.ru_stime.tv_usec;
  const double own[5] = {met - begun, first - met, (double)used.ru_maxrss, cpu_s, descriptors()};
  double most[5];
  if (tutti_allreduce(own, most, 5, TUTTI_FLOAT64, TUTTI_MAX, comm) != TUTTI_OK) {
    return failed("allreduce");
  }
  int rank = 0;
  int ranks = 0;
  tutti_comm_rank(comm, &rank);
  tutti_comm_size(comm, &ranks);
  if (rank == 0) {
    printf(
        "%d ranks: met within %.2f s, first barrier %.3f s; at most on a rank: %.1f MB, "
        "%.3f s of processor, %.0f descriptors\n",
        ranks, most[0], most[1], most[2] / 1e3, most[3], most[4]);
  }
  return tutti_comm_destroy(comm) == TUTTI_OK ? 0 : failed("destroy");
}
