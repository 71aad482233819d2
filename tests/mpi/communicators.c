/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * Communicators, groups, attributes and errors. */
#include <unistd.h>

#include "check.h"

static int sum_of_ranks(MPI_Comm comm) {
  int mine, sum = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &mine);
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}
static int compared(MPI_Comm one, MPI_Comm other) {
  int result = -1;
  MPI_Comm_compare(one, other, &result);
  return result;
}

static void communicators(void) {
  const int all = ranks * (ranks - 1) / 2;
  MPI_Comm dup, halves, host, none;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  CHECK_EQUAL(sum_of_ranks(dup), all);
  CHECK_EQUAL(compared(dup, MPI_COMM_WORLD), MPI_CONGRUENT);
  CHECK_EQUAL(compared(dup, dup), MPI_IDENT);
  CHECK_EQUAL(sum_of_ranks(MPI_COMM_SELF), rank);
  /* Messages of one are not those of the other. */
  int one = 1, two = 2, got = 0;
  MPI_Request requests[2];
  MPI_Isend(&one, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&two, 1, MPI_INT, rank, 0, dup, &requests[1]);
  MPI_Recv(&got, 1, MPI_INT, rank, 0, dup, MPI_STATUS_IGNORE);
  CHECK_EQUAL(got, 2);
  MPI_Recv(&got, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQUAL(got, 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Comm_free(&dup);
  CHECK(dup == MPI_COMM_NULL);
  MPI_Request request;
  MPI_Comm_idup(MPI_COMM_WORLD, &dup, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK_EQUAL(sum_of_ranks(dup), all);
  MPI_Comm_free(&dup);

  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &halves);
  int size = -1, place = -1;
  MPI_Comm_size(halves, &size);
  MPI_Comm_rank(halves, &place);
  CHECK_EQUAL(size, (ranks + 1 - rank % 2) / 2);
  CHECK_EQUAL(place, size - 1 - rank / 2);
  MPI_Comm_free(&halves);
  MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &none);
  CHECK(none == MPI_COMM_NULL);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  CHECK_EQUAL(sum_of_ranks(host), all);
  MPI_Comm_free(&host);
}

static void groups(void) {
  MPI_Group world, even, odd, made;
  MPI_Comm comm;
  int size = -1, result = -1;
  int ranges[1][3] = {{0, ranks - 1, 2}};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_range_incl(world, 1, ranges, &even);
  MPI_Group_difference(world, even, &odd);
  MPI_Group_size(even, &size);
  CHECK_EQUAL(size, (ranks + 1) / 2);
  MPI_Group_union(odd, even, &made);
  MPI_Group_compare(made, world, &result);
  CHECK_EQUAL(result, ranks > 1 ? MPI_SIMILAR : MPI_IDENT);
  MPI_Group_free(&made);
  MPI_Group_intersection(odd, even, &made);
  CHECK(made == MPI_GROUP_EMPTY);
  int last = ranks - 1, translated = -1;
  MPI_Group_translate_ranks(world, 1, &last, even, &translated);
  CHECK_EQUAL(translated, last % 2 == 0 ? last / 2 : MPI_UNDEFINED);
  /* Collective over its members alone; the others go on to the next. */
  if (rank % 2 == 0) {
    MPI_Comm_create_group(MPI_COMM_WORLD, even, 5, &comm);
    MPI_Comm_size(comm, &size);
    CHECK_EQUAL(size, (ranks + 1) / 2);
    MPI_Comm_free(&comm);
  }
  MPI_Comm_create(MPI_COMM_WORLD, even, &comm);
  CHECK_EQUAL(comm == MPI_COMM_NULL, rank % 2);
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  MPI_Group_free(&even);
  if (odd != MPI_GROUP_EMPTY) MPI_Group_free(&odd);
  MPI_Group_free(&world);
}

static int copies, deletions;
static int copy(MPI_Comm comm, int key, void* context, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)context;
  ++copies;
  *(void**)out = (char*)in + 1;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete(MPI_Comm comm, int key, void* value, void* context) {
  (void)comm, (void)key, (void)value, (void)context;
  ++deletions;
  return MPI_SUCCESS;
}

static void attributes(void) {
  int key = MPI_KEYVAL_INVALID, flag = 0;
  char* value = NULL;
  int* upper = NULL;
  char where[2];
  MPI_Comm dup;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &flag);
  CHECK(flag && *upper >= 32767);
  MPI_Comm_create_keyval(copy, delete, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, where);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  CHECK_EQUAL(copies, 1);
  MPI_Comm_get_attr(dup, key, &value, &flag);
  CHECK(flag && value == where + 1);
  MPI_Comm_free(&dup);
  CHECK_EQUAL(deletions, 1);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  CHECK_EQUAL(deletions, 2);
  MPI_Comm_free_keyval(&key);
}

static int handled;
static void handler(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  handled = *code;
}

static int class_of(int code) {
  int error_class = -1;
  MPI_Error_class(code, &error_class);
  return error_class;
}

static void errors(void) {
  int data = 0, code, length;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Errhandler own;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  code = MPI_Send(&data, 1, MPI_INT, ranks, 0, MPI_COMM_WORLD);
  CHECK_EQUAL(class_of(code), MPI_ERR_RANK);
  MPI_Error_string(code, text, &length);
#ifdef TUTTI_MPI_HEADER
  CHECK(strstr(text, "MPI_ERR_RANK") != NULL && strstr(text, "MPI_Send") != NULL);
#endif
  CHECK_EQUAL(class_of(MPI_Send(&data, -1, MPI_INT, 0, 0, MPI_COMM_WORLD)), MPI_ERR_COUNT);
  CHECK_EQUAL(class_of(MPI_Send(&data, 1, MPI_INT, 0, -1, MPI_COMM_WORLD)), MPI_ERR_TAG);
  CHECK_EQUAL(class_of(MPI_Send(&data, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD)), MPI_ERR_TYPE);
  CHECK_EQUAL(class_of(MPI_Bcast(&data, 1, MPI_INT, -1, MPI_COMM_WORLD)), MPI_ERR_ROOT);
  CHECK_EQUAL(class_of(MPI_Barrier(MPI_COMM_NULL)), MPI_ERR_COMM);
  CHECK_EQUAL(class_of(MPI_Allreduce(&data, &data, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD)),
              MPI_ERR_OP);
  /* A message that is longer than its receive. */
  int two[2] = {1, 2};
  MPI_Request request;
  MPI_Isend(two, 2, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
  CHECK_EQUAL(class_of(MPI_Recv(&data, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)),
              MPI_ERR_TRUNCATE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win window;
  CHECK_EQUAL(class_of(MPI_Win_create(&data, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window)),
              MPI_ERR_UNSUPPORTED_OPERATION);
  MPI_Comm_create_errhandler(handler, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  MPI_Errhandler_free(&own);
  MPI_Send(&data, 1, MPI_INT, ranks, 0, MPI_COMM_WORLD);
  CHECK_EQUAL(class_of(handled), MPI_ERR_RANK);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  communicators();
  groups();
  attributes();
  errors();
  if (argc > 1 && strcmp(argv[1], "err") == 0) MPI_Barrier(MPI_COMM_NULL);
  if (argc > 1 && strcmp(argv[1], "leave") == 0) {
    MPI_Barrier(MPI_COMM_WORLD); /* the others have checked all */
    if (rank == 1) _Exit(0);
  }
  if (argc > 1 && strcmp(argv[1], "keep") == 0) {
    MPI_Comm kept;
    MPI_Comm_dup(MPI_COMM_WORLD, &kept);
    end("communicators");
    if (rank == 1) sleep(1); /* it is there when the other has gone */
    return 0;
  }
  return end("communicators");
}
