/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * An MPI as the library knows it: a table of functions. A module provides it that was compiled with
 * the headers of that MPI. Handles and constants of MPI differ from one MPI to the next and stay in
 * the module. Functions return 0 or an error of MPI. Which threads may call at once, MPI's thread
 * level says. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* To be raised with every change of what stands below. */
#define TUTTI_MPI_TABLE_VERSION 1
#define TUTTI_MPI_TABLE_SYMBOL "tutti_mpi_table_of_module"

enum { TUTTI_MPI_DONE = 0, TUTTI_MPI_CANCELLED = 1, TUTTI_MPI_FAILED = 2 };
enum { TUTTI_MPI_ANY_PEER = -1 };
/* MPI's levels, which have other numbers in some MPI. */
enum {
  TUTTI_MPI_THREAD_SINGLE = 0,
  TUTTI_MPI_THREAD_FUNNELED = 1,
  TUTTI_MPI_THREAD_SERIALIZED = 2,
  TUTTI_MPI_THREAD_MULTIPLE = 3
};

/* How a request ended. */
typedef struct tutti_mpi_end {
  void* owner;
  uint64_t bytes; /* received */
  int how;        /* TUTTI_MPI_DONE, ... */
  int error;      /* of TUTTI_MPI_FAILED */
} tutti_mpi_end;

typedef struct tutti_mpi_table {
  uint32_t version; /* TUTTI_MPI_TABLE_VERSION; the first member in every version */
  uint32_t bytes;   /* sizeof(tutti_mpi_table) */

  /* ---- MPI itself; the first may be called at any time */
  int (*state)(int* initialized, int* finalized);
  int (*init)(void); /* for as many threads as it can */
  int (*finalize)(void);
  int (*thread_level)(int* level);
  int (*world)(int* rank, int* size, int* highest_tag);
  void (*error_text)(int error, char* text, size_t bytes);

  /* ---- a communicator among these ranks of MPI_COMM_WORLD. Opening is collective among them and
   * waits for them. `tag`, from 0 to 32767, is the same on all and tells openings at one time
   * apart. Errors in it are returned. */
  int (*open_group)(const int* world_ranks, int count, int tag, void** group);
  int (*close_group)(void* group);

  /* ---- requests that are looked after together, by one thread at a time; null: no memory. None
   * may be under way when they are freed. */
  void* (*make_requests)(void* group);
  void (*free_requests)(void* requests);
  int (*send)(void* requests, const void* buffer, size_t bytes, int peer, int tag, void* owner);
  int (*receive)(void* requests, void* buffer, size_t bytes, int peer, int tag, void* owner);
  int (*cancel)(void* requests, void* owner); /* a receive; it ends like others */
  /* Up to `most` of those that have ended; one that is not TUTTI_MPI_DONE comes alone. */
  int (*test)(void* requests, tutti_mpi_end* ends, int most, int* count);
  /* How many are under way, and whose they are. */
  int (*count)(const void* requests);
  void* (*owner)(const void* requests, int index);
} tutti_mpi_table;

/* The symbol that a module exports. */
__attribute__((visibility("default"))) const tutti_mpi_table* tutti_mpi_table_of_module(void);

#ifdef __cplusplus
}
#endif
