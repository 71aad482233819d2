/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * What the contestants of benchmarks/versus.py have in common: one rank of one library, which
 * sleeps in read() on a socket until it is asked to measure, so that only one contestant uses the
 * cores at a time. versus.py documents the lines that are exchanged.
 */
#ifndef TUTTI_BENCHMARKS_PEERS_SERVER_H
#define TUTTI_BENCHMARKS_PEERS_SERVER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Float32, sum, root 0. `count` is the whole vector for allreduce, broadcast and reduce, and one
 * rank's block for the others. */
enum collective {
  COLLECTIVE_ALLREDUCE,
  COLLECTIVE_BROADCAST, /* `recv` is the buffer on every rank */
  COLLECTIVE_REDUCE,
  COLLECTIVE_ALLGATHER,
  COLLECTIVE_REDUCE_SCATTER,
  COLLECTIVE_ALLTOALL,
  COLLECTIVE_BARRIER,
  COLLECTIVES
};

struct contestant {
  int rank;
  int ranks;
  const char* version; /* one line */
  /* Makes one blocking call. NULL, or why it failed, in one line. */
  const char* (*call)(enum collective collective, const float* send, float* recv, size_t count);
};

/* Binds this process to the core that VERSUS_CORES (a comma-separated list) has for its rank, as
 * the launcher's variables tell it. Does nothing if VERSUS_CORES is not set. To be called first in
 * main, so that everything the library does at its start happens there. */
void pin_to_core(void);

/* Connects to the driver's socket and announces this rank. -1 after a message on failure. */
int connect_to_driver(int rank, int ranks, const char* version);

/* Answers requests until the other side quits or goes away. Returns the exit status. */
int serve(const struct contestant* contestant);

#ifdef __cplusplus
}
#endif

#endif
