/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * What the contestants of benchmarks/versus.py have in common: one rank of one library, which
 * sleeps in read() on a socket until it is asked to measure, so that only one contestant uses the
 * cores at a time. README.md beside it documents the lines that are exchanged.
 */
#ifndef TUTTI_BENCHMARKS_PEERS_SERVER_H
#define TUTTI_BENCHMARKS_PEERS_SERVER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reductions are sums; the root is rank 0. */
enum collective {
  COLLECTIVE_ALLREDUCE,
  COLLECTIVE_BROADCAST, /* `recv` is the buffer on every rank */
  COLLECTIVE_REDUCE,
  COLLECTIVE_ALLGATHER,
  COLLECTIVE_REDUCE_SCATTER,
  COLLECTIVE_ALLTOALL,
  COLLECTIVE_GATHER,
  COLLECTIVE_SCATTER,
  COLLECTIVE_SENDRECV, /* to the next rank, and from the one before */
  COLLECTIVE_BARRIER,
  COLLECTIVES
};

enum type { TYPE_FLOAT32, TYPE_BFLOAT16, TYPES };

enum { MOST_RANKS = 1024 }; /* in forms for uneven blocks */

/* `count` elements are the whole vector for allreduce, broadcast, reduce and sendrecv, and one
 * rank's block for the others. In place, `send` and `recv` coincide: of allgather and gather,
 * `send` is the rank's block of `recv`; of reduce_scatter and scatter, `recv` is its block of
 * `send`. A root's buffers alone coincide in gather and scatter. */
struct operation {
  enum collective collective;
  int uneven; /* by the library's form for uneven blocks, with equal ones */
  enum type type;
  int in_place;
  int nonblocking; /* started, and waited for at once */
  const void* send;
  void* recv;
  size_t count;
};

/* How an error begins that says that a library has no such operation at all. */
#define NOT_OFFERED "not offered: "

struct contestant {
  int rank;
  int ranks;
  const char* version; /* one line */
  /* Makes one call, to its end. NULL, or why it failed, in one line. */
  const char* (*call)(const struct operation* operation);
};

/* Binds this process to the core that VERSUS_CORES (a comma-separated list) has for its rank, as
 * the launcher's variables tell it. Does nothing if VERSUS_CORES is not set. To be called first in
 * main, so that everything the library does at its start happens there. */
void pin_to_core(void);

/* The number in a variable that the driver sets; ends the process after a message without it. */
int integer_from_environment(const char* name);

/* Connects to the driver's socket and announces this rank. -1 after a message on failure. */
int connect_to_driver(int rank, int ranks, const char* version);

/* Answers requests until the other side quits or goes away. Returns the exit status. */
int serve(const struct contestant* contestant);

/* What follows is in buffers.c, for server.c. */

/* Send and receive buffers of one operation: `sets` of them, which calls walk through in turn. */
struct buffers {
  int rank;
  int ranks;
  size_t sets;
  size_t set;        /* the next call's */
  size_t send_bytes; /* of one set, here */
  size_t recv_bytes;
  size_t stride; /* bytes from one set to the next */
  char* send;    /* in place, the same as recv */
  char* recv;
  size_t send_room;
  size_t recv_room;
};

/* The element size of a type, in bytes. */
size_t type_size(enum type type);

/* Makes room for `sets` of the operation's buffers and gives each set its input. */
const char* set_up_buffers(struct buffers* buffers, const struct operation* operation, size_t sets);

/* Points the operation to the next set. */
void take_next_set(struct buffers* buffers, struct operation* operation);

/* Writes the input of the operation's set, and what no result contains where the result goes. */
void write_input(const struct buffers* buffers, const struct operation* operation);

/* NULL, or which element of the operation's result is wrong. */
const char* wrong_element(const struct buffers* buffers, const struct operation* operation);

#ifdef __cplusplus
}
#endif

#endif
