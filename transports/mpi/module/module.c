/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * The table of functions (../table.h) over one MPI. It is compiled once for each MPI found, with
 * its headers and not linked with it. Its functions are those of the MPI that the process has,
 * which may be another library with the same binary interface. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "transports/mpi/table.h"

/* ---- MPI itself */

static int state(int* initialized, int* finalized) {
  const int error = MPI_Initialized(initialized);
  return error != MPI_SUCCESS ? error : MPI_Finalized(finalized);
}

static void copy_line(const char* from, char* text, size_t bytes) {
  size_t i = 0;
  for (; i + 1 < bytes && from[i] != '\0' && from[i] != '\n'; ++i) text[i] = from[i];
  text[i] = '\0';
}

static int init(void) {
  int level = 0;
  const int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
  /* Nobody else has a word in what happens to errors. */
  return error != MPI_SUCCESS ? error : MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

static int finalize(void) { return MPI_Finalize(); }

static int thread_level(int* level) {
  int given = MPI_THREAD_SINGLE;
  const int error = MPI_Query_thread(&given);
  *level = given == MPI_THREAD_MULTIPLE     ? TUTTI_MPI_THREAD_MULTIPLE
           : given == MPI_THREAD_SERIALIZED ? TUTTI_MPI_THREAD_SERIALIZED
           : given == MPI_THREAD_FUNNELED   ? TUTTI_MPI_THREAD_FUNNELED
                                            : TUTTI_MPI_THREAD_SINGLE;
  return error;
}

static int world(int* rank, int* size, int* highest_tag) {
  int error = MPI_Comm_rank(MPI_COMM_WORLD, rank);
  if (error == MPI_SUCCESS) error = MPI_Comm_size(MPI_COMM_WORLD, size);
  void* value = NULL;
  int found = 0;
  if (error == MPI_SUCCESS) error = MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
  *highest_tag = found ? *(int*)value : 32767;
  return error;
}

static void error_text(int error, char* text, size_t bytes) {
  char whole[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(error, whole, &length) != MPI_SUCCESS) whole[0] = '\0';
  copy_line(whole, text, bytes);
}

/* ---- groups */

static int open_group(const int* world_ranks, int count, int tag, void** group) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group chosen = MPI_GROUP_NULL;
  MPI_Comm* made = malloc(sizeof *made);
  if (made == NULL) return MPI_ERR_NO_MEM;
  *made = MPI_COMM_NULL;
  int error = MPI_Comm_group(MPI_COMM_WORLD, &all);
  if (error == MPI_SUCCESS) error = MPI_Group_incl(all, count, world_ranks, &chosen);
  if (error == MPI_SUCCESS) error = MPI_Comm_create_group(MPI_COMM_WORLD, chosen, tag, made);
  if (chosen != MPI_GROUP_NULL) MPI_Group_free(&chosen);
  if (all != MPI_GROUP_NULL) MPI_Group_free(&all);
  if (error == MPI_SUCCESS) error = MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
  *group = made;
  if (error == MPI_SUCCESS) return error;
  free(made);
  *group = NULL;
  return error;
}

static int close_group(void* group) {
  const int error = MPI_Comm_free((MPI_Comm*)group);
  free(group);
  return error;
}

/* ---- requests */

typedef struct requests {
  MPI_Comm communicator;
  int room;  /* of each of these arrays */
  int count; /* under way */
  MPI_Request* handles;
  void** owners;
  int* indices;
  MPI_Status* statuses;
  tutti_mpi_end* ends; /* those not yet told of: from told to ended */
  int told;
  int ended;
} requests;

static int grow(requests* all) {
  const int room = all->room == 0 ? 64 : 2 * all->room;
  const size_t n = (size_t)room;
#define GROW(array)                                             \
  do {                                                          \
    void* larger = realloc(all->array, n * sizeof *all->array); \
    if (larger == NULL) return MPI_ERR_NO_MEM;                  \
    all->array = larger;                                        \
  } while (0)
  GROW(handles);
  GROW(owners);
  GROW(indices);
  GROW(statuses);
  GROW(ends);
#undef GROW
  all->room = room;
  return MPI_SUCCESS;
}

static void free_requests(void* of) {
  requests* all = of;
  free(all->handles);
  free(all->owners);
  free(all->indices);
  free(all->statuses);
  free(all->ends);
  free(all);
}

static void* make_requests(void* group) {
  requests* all = calloc(1, sizeof *all);
  if (all == NULL) return NULL;
  all->communicator = *(MPI_Comm*)group;
  if (grow(all) == MPI_SUCCESS) return all;
  free_requests(all);
  return NULL;
}

static int send(void* of, const void* buffer, size_t bytes, int peer, int tag, void* owner) {
  requests* all = of;
  if (all->count == all->room) {
    const int error = grow(all);
    if (error != MPI_SUCCESS) return error;
  }
  const int error = MPI_Isend(buffer, (int)bytes, MPI_BYTE, peer, tag, all->communicator,
                              &all->handles[all->count]);
  if (error == MPI_SUCCESS) all->owners[all->count++] = owner;
  return error;
}

static int receive(void* of, void* buffer, size_t bytes, int peer, int tag, void* owner) {
  requests* all = of;
  if (all->count == all->room) {
    const int error = grow(all);
    if (error != MPI_SUCCESS) return error;
  }
  const int source = peer == TUTTI_MPI_ANY_PEER ? MPI_ANY_SOURCE : peer;
  const int error = MPI_Irecv(buffer, (int)bytes, MPI_BYTE, source, tag, all->communicator,
                              &all->handles[all->count]);
  if (error == MPI_SUCCESS) all->owners[all->count++] = owner;
  return error;
}

static int cancel(void* of, void* owner) {
  requests* all = of;
  for (int i = 0; i < all->count; ++i) {
    if (all->owners[i] == owner) return MPI_Cancel(&all->handles[i]);
  }
  return MPI_SUCCESS; /* it has ended */
}

static tutti_mpi_end end_of(void* owner, MPI_Status* status, int error) {
  tutti_mpi_end end = {owner, 0, TUTTI_MPI_DONE, MPI_SUCCESS};
  int cancelled = 0;
  int bytes = 0;
  if (error != MPI_SUCCESS) {
    end.how = TUTTI_MPI_FAILED;
    end.error = error;
    return end;
  }
  MPI_Test_cancelled(status, &cancelled);
  if (cancelled) {
    end.how = TUTTI_MPI_CANCELLED;
  } else if (MPI_Get_count(status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes > 0) {
    end.bytes = (uint64_t)bytes;
  }
  return end;
}

/* Takes those that have ended out of the list, which keeps its order. MPI matches receives in the
 * order in which they were posted, so the first are the likeliest to end. */
static int collect(requests* all) {
  int ended = 0;
  const int error = MPI_Testsome(all->count, all->handles, &ended, all->indices, all->statuses);
  if (error != MPI_SUCCESS && error != MPI_ERR_IN_STATUS) {
    int class_of_error = error;
    MPI_Error_class(error, &class_of_error);
    if (class_of_error != MPI_ERR_IN_STATUS) return error;
  }
  all->told = 0;
  all->ended = 0;
  if (ended == MPI_UNDEFINED || ended <= 0) return MPI_SUCCESS;
  for (int i = 0; i < ended; ++i) {
    const int at = all->indices[i];
    const int own = error == MPI_SUCCESS ? MPI_SUCCESS : all->statuses[i].MPI_ERROR;
    all->ends[all->ended++] = end_of(all->owners[at], &all->statuses[i], own);
    all->owners[at] = NULL;
  }
  int kept = 0;
  for (int i = 0; i < all->count; ++i) {
    if (all->owners[i] == NULL) {
      if (all->handles[i] != MPI_REQUEST_NULL) MPI_Request_free(&all->handles[i]);
      continue;
    }
    all->owners[kept] = all->owners[i];
    all->handles[kept++] = all->handles[i];
  }
  all->count = kept;
  return MPI_SUCCESS;
}

static int test(void* of, tutti_mpi_end* ends, int most, int* count) {
  requests* all = of;
  *count = 0;
  if (all->told == all->ended) {
    if (all->count == 0) return MPI_SUCCESS;
    const int error = collect(all);
    if (error != MPI_SUCCESS) return error;
  }
  while (all->told < all->ended && *count < most) {
    const tutti_mpi_end* next = &all->ends[all->told];
    const int alone = next->how != TUTTI_MPI_DONE;
    if (alone && *count > 0) break;
    ends[(*count)++] = *next;
    ++all->told;
    if (alone) break;
  }
  return MPI_SUCCESS;
}

static int count(const void* of) {
  const requests* all = of;
  return all->count;
}

static void* owner(const void* of, int index) {
  const requests* all = of;
  return all->owners[index];
}

const tutti_mpi_table* tutti_mpi_table_of_module(void) {
  static const tutti_mpi_table table = {
      TUTTI_MPI_TABLE_VERSION,
      sizeof(tutti_mpi_table),
      state,
      init,
      finalize,
      thread_level,
      world,
      error_text,
      open_group,
      close_group,
      make_requests,
      free_requests,
      send,
      receive,
      cancel,
      test,
      count,
      owner,
  };
  return &table;
}
