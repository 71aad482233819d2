/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * Collectives in all forms, against results computed here. */
#include "check.h"

enum { COUNT = 5 };
static int value(int of, int i) { return 100 * of + i + 1; }

/* Blocking, non-blocking, persistent (started twice), and the first with large counts: `call` has
 * three spellings, in which `tail` stands for the arguments that a form adds. */
#define IN_ALL_FORMS(fill, name, iname, check, ...)                    \
  do {                                                                 \
    MPI_Request request = MPI_REQUEST_NULL;                            \
    fill;                                                              \
    CHECK_EQUAL(MPI_##name(__VA_ARGS__), MPI_SUCCESS);                 \
    check;                                                             \
    fill;                                                              \
    CHECK_EQUAL(MPI_##iname(__VA_ARGS__, &request), MPI_SUCCESS);      \
    CHECK_EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);   \
    CHECK(request == MPI_REQUEST_NULL);                                \
    check;                                                             \
    fill;                                                              \
    MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request);           \
    for (int again = 0; again < 2; ++again) {                          \
      fill;                                                            \
      MPI_Start(&request);                                             \
      CHECK_EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS); \
      check;                                                           \
    }                                                                  \
    MPI_Request_free(&request);                                        \
  } while (0)

static int *mine, *all, *other;

static void fill(void) {
  for (int i = 0; i < COUNT; ++i) mine[i] = value(rank, i);
  for (int i = 0; i < COUNT * ranks; ++i) {
    all[i] = -1;
    other[i] = value(rank, i);
  }
}
static void check_all(void) {
  for (int i = 0; i < COUNT * ranks; ++i) CHECK_EQUAL(all[i], value(i / COUNT, i % COUNT));
}
static void check_all_at(int root) {
  if (rank == root) check_all();
}
static void check_exchanged(const int* got) {
  for (int i = 0; i < COUNT * ranks; ++i) {
    CHECK_EQUAL(got[i], value(i / COUNT, rank * COUNT + i % COUNT));
  }
}
static void check_sum(const int* got, int first, int count, int from, int to) {
  for (int i = 0; i < count; ++i) {
    int sum = 0;
    for (int r = from; r < to; ++r) sum += value(r, first + i);
    CHECK_EQUAL(got[i], sum);
  }
}

static void move(void) {
  int* counts = malloc(sizeof(int) * (size_t)ranks);
  int* displs = malloc(sizeof(int) * (size_t)ranks);
  MPI_Datatype* types = malloc(sizeof(MPI_Datatype) * (size_t)ranks);
  int* bytes = malloc(sizeof(int) * (size_t)ranks);
  for (int r = 0; r < ranks; ++r) {
    counts[r] = COUNT;
    displs[r] = COUNT * r;
    bytes[r] = (int)sizeof(int) * COUNT * r;
    types[r] = MPI_INT;
  }
  const MPI_Comm world = MPI_COMM_WORLD;
  IN_ALL_FORMS(fill(), Allgather, Iallgather, check_all(), mine, COUNT, MPI_INT, all, COUNT,
               MPI_INT, world);
  IN_ALL_FORMS(fill(), Allgatherv, Iallgatherv, check_all(), mine, COUNT, MPI_INT, all, counts,
               displs, MPI_INT, world);
  IN_ALL_FORMS(fill(), Alltoall, Ialltoall, check_exchanged(all), other, COUNT, MPI_INT, all, COUNT,
               MPI_INT, world);
  IN_ALL_FORMS(fill(), Alltoall, Ialltoall, check_exchanged(other), MPI_IN_PLACE, 0, MPI_INT, other,
               COUNT, MPI_INT, world);
  IN_ALL_FORMS(fill(), Alltoallv, Ialltoallv, check_exchanged(all), other, counts, displs, MPI_INT,
               all, counts, displs, MPI_INT, world);
  IN_ALL_FORMS(fill(), Alltoallw, Ialltoallw, check_exchanged(all), other, counts, bytes, types,
               all, counts, bytes, types, world);
  for (int root = 0; root < ranks; ++root) {
    IN_ALL_FORMS(fill(), Gather, Igather, check_all_at(root), mine, COUNT, MPI_INT, all, COUNT,
                 MPI_INT, root, world);
    IN_ALL_FORMS(fill(), Gatherv, Igatherv, check_all_at(root), mine, COUNT, MPI_INT, all, counts,
                 displs, MPI_INT, root, world);
    IN_ALL_FORMS(fill(), Scatter, Iscatter,
                 for (int i = 0; i < COUNT; ++i)
                     CHECK_EQUAL(mine[i], value(root, rank * COUNT + i)),
                 other, COUNT, MPI_INT, mine, COUNT, MPI_INT, root, world);
    IN_ALL_FORMS(fill(), Scatterv, Iscatterv,
                 for (int i = 0; i < COUNT; ++i)
                     CHECK_EQUAL(mine[i], value(root, rank * COUNT + i)),
                 other, counts, displs, MPI_INT, mine, COUNT, MPI_INT, root, world);
    IN_ALL_FORMS(fill(), Bcast, Ibcast,
                 for (int i = 0; i < COUNT; ++i) CHECK_EQUAL(mine[i], value(root, i)), mine, COUNT,
                 MPI_INT, root, world);
    fill();
    memcpy(all + COUNT * rank, mine, sizeof(int) * COUNT);
    MPI_Gather(rank == root ? MPI_IN_PLACE : mine, COUNT, MPI_INT, all, COUNT, MPI_INT, root,
               world);
    check_all_at(root);
    fill();
    MPI_Scatter(other, COUNT, MPI_INT, rank == root ? MPI_IN_PLACE : mine, COUNT, MPI_INT, root,
                world);
    if (rank != root) CHECK_EQUAL(mine[1], value(root, rank * COUNT + 1));
  }
  fill();
  memcpy(all + COUNT * rank, mine, sizeof(int) * COUNT);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, COUNT, MPI_INT, world);
  check_all();
  fill();
  MPI_Allgather_c(mine, COUNT, MPI_INT, all, COUNT, MPI_INT, world);
  check_all();
  free(counts);
  free(displs);
  free(types);
  free(bytes);
}

static void reduce(void) {
  const MPI_Comm world = MPI_COMM_WORLD;
  int* counts = malloc(sizeof(int) * (size_t)ranks);
  int first = 0;
  for (int r = 0; r < ranks; ++r) counts[r] = r % COUNT;
  for (int r = 0; r < rank; ++r) first += counts[r];
  IN_ALL_FORMS(fill(), Allreduce, Iallreduce, check_sum(all, 0, COUNT, 0, ranks), mine, all, COUNT,
               MPI_INT, MPI_SUM, world);
  IN_ALL_FORMS(fill(), Allreduce, Iallreduce, check_sum(mine, 0, COUNT, 0, ranks), MPI_IN_PLACE,
               mine, COUNT, MPI_INT, MPI_SUM, world);
  IN_ALL_FORMS(fill(), Scan, Iscan, check_sum(all, 0, COUNT, 0, rank + 1), mine, all, COUNT,
               MPI_INT, MPI_SUM, world);
  IN_ALL_FORMS(fill(), Exscan, Iexscan, if (rank > 0) check_sum(all, 0, COUNT, 0, rank), mine, all,
               COUNT, MPI_INT, MPI_SUM, world);
  IN_ALL_FORMS(fill(), Reduce_scatter_block, Ireduce_scatter_block,
               check_sum(all, rank * COUNT, COUNT, 0, ranks), other, all, COUNT, MPI_INT, MPI_SUM,
               world);
  IN_ALL_FORMS(fill(), Reduce_scatter_block, Ireduce_scatter_block,
               check_sum(other, rank * COUNT, COUNT, 0, ranks), MPI_IN_PLACE, other, COUNT, MPI_INT,
               MPI_SUM, world);
  IN_ALL_FORMS(fill(), Reduce_scatter, Ireduce_scatter,
               check_sum(all, first, counts[rank], 0, ranks), other, all, counts, MPI_INT, MPI_SUM,
               world);
  for (int root = 0; root < ranks; ++root) {
    IN_ALL_FORMS(fill(), Reduce, Ireduce, if (rank == root) check_sum(all, 0, COUNT, 0, ranks),
                 mine, all, COUNT, MPI_INT, MPI_SUM, root, world);
  }
  MPI_Request request;
  MPI_Ibarrier(world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(counts);
}

/* Decimal digits put one after the other: not commutative. */
static void append(void* in, void* inout, int* count, MPI_Datatype* type) {
  const long long* left = in;
  long long* right = inout;
  CHECK(*type == MPI_LONG_LONG);
  for (int i = 0; i < *count; ++i) right[i] = left[i] * 10 + right[i];
}
/* The larger second field wins, of elements with a gap between. */
static void larger(void* in, void* inout, int* count, MPI_Datatype* type) {
  const short* left = in;
  short* right = inout;
  MPI_Aint lb, extent;
  MPI_Type_get_extent(*type, &lb, &extent);
  CHECK_EQUAL(extent, 4 * sizeof(short));
  for (int i = 0; i < *count; ++i, left += 4, right += 4) {
    if (left[2] > right[2]) memcpy(right, left, 3 * sizeof(short));
  }
}

static void operations(void) {
  const MPI_Comm world = MPI_COMM_WORLD;
  struct {
    double value;
    int index;
  } mine_at = {(double)(rank % 2), rank}, found;
  MPI_Allreduce(&mine_at, &found, 1, MPI_DOUBLE_INT, MPI_MAXLOC, world);
  CHECK_EQUAL(found.index, ranks > 1 ? 1 : 0);
  MPI_Allreduce(&mine_at, &found, 1, MPI_DOUBLE_INT, MPI_MINLOC, world);
  CHECK_EQUAL(found.index, 0);
  int yes = rank == 0, result = -1;
  MPI_Allreduce(&yes, &result, 1, MPI_INT, MPI_LAND, world);
  CHECK_EQUAL(result, ranks == 1);
  MPI_Allreduce(&yes, &result, 1, MPI_INT, MPI_LOR, world);
  CHECK_EQUAL(result, 1);
  MPI_Allreduce(&yes, &result, 1, MPI_INT, MPI_LXOR, world);
  CHECK_EQUAL(result, 1);
  unsigned bit = 1U << rank, bits = 0;
  MPI_Allreduce(&bit, &bits, 1, MPI_UNSIGNED, MPI_BOR, world);
  CHECK_EQUAL(bits, (1U << ranks) - 1);
  float turned[2] = {0, 1}, product[2]; /* i, whose powers repeat */
  MPI_Allreduce(turned, product, 1, MPI_C_FLOAT_COMPLEX, MPI_PROD, world);
  const float powers[][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  CHECK(product[0] == powers[ranks % 4][0]);
  CHECK(product[1] == powers[ranks % 4][1]);

  MPI_Op op;
  int commutes = 1;
  MPI_Op_create(append, 0, &op);
  MPI_Op_commutative(op, &commutes);
  CHECK_EQUAL(commutes, 0);
  long long digit = rank + 1, digits = 0, expected = 0;
  for (int r = 0; r < ranks; ++r) expected = expected * 10 + r + 1;
  MPI_Allreduce(&digit, &digits, 1, MPI_LONG_LONG, op, world);
  CHECK_EQUAL(digits, expected);
  for (int root = 0; root < ranks; ++root) {
    MPI_Reduce(&digit, &digits, 1, MPI_LONG_LONG, op, root, world);
    if (rank == root) CHECK_EQUAL(digits, expected);
  }
  long long left = 1, right = 2;
  MPI_Reduce_local(&left, &right, 1, MPI_LONG_LONG, op);
  CHECK_EQUAL(right, 12);
  MPI_Op_free(&op);
  CHECK(op == MPI_OP_NULL);

  const int lengths[] = {1, 1}, places[] = {0, 2};
  MPI_Datatype gap, type;
  MPI_Type_indexed(2, lengths, places, MPI_SHORT, &gap);
  MPI_Type_create_resized(gap, 0, 4 * sizeof(short), &type);
  MPI_Type_commit(&type);
  MPI_Op_create(larger, 1, &op);
  short pairs[8] = {(short)rank, 7, (short)(10 * rank), 7, (short)rank, 7, (short)-rank, 7};
  short best[8] = {0, 9, 0, 9, 0, 9, 0, 9};
  MPI_Allreduce(pairs, best, 2, type, op, world);
  CHECK_EQUAL(best[0], ranks - 1);
  CHECK_EQUAL(best[2], 10 * (ranks - 1));
  CHECK_EQUAL(best[4], 0);
  CHECK_EQUAL(best[1], 9); /* a gap stays as it is */
  MPI_Op_free(&op);
  MPI_Type_free(&gap);
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  mine = malloc(sizeof(int) * COUNT);
  all = malloc(sizeof(int) * COUNT * (size_t)ranks);
  other = malloc(sizeof(int) * COUNT * (size_t)ranks);
  move();
  reduce();
  operations();
  free(mine);
  free(all);
  free(other);
  return end("collectives");
}
