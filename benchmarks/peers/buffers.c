/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * The buffers of versus.py's contestants: where they lie, what is sent, what must arrive.
 *
 * Position i of what rank r sends has the value r + 1 + i % 13: small integers, so that sums are
 * exact in every type and any order.
 */
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "server.h"

enum { kPeriod = 13 };

/* One hot buffer: large enough that buffers never share a cache line, and that transparent huge
 * pages apply to all contestants alike. Rotating ones lie a line apart. */
static const size_t kAlignment = (size_t)2 << 20;
static const size_t kLine = 64;

/* Part of a buffer whose elements are base + factor * (index % kPeriod), from `first` on. */
struct part {
  int base;
  int factor;
  size_t first;
};

size_t type_size(enum type type) { return type == TYPE_FLOAT32 ? sizeof(float) : 2; }

static size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

static uint32_t bits_of(enum type type, int value) {
  const float number = (float)value;
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return type == TYPE_FLOAT32 ? bits : bits >> 16;
}

static double value_of(enum type type, uint32_t bits) {
  float number;
  if (type == TYPE_BFLOAT16) bits <<= 16;
  memcpy(&number, &bits, sizeof number);
  return (double)number;
}

static void fill_part(enum type type, void* out, struct part part, size_t count) {
  uint32_t values[kPeriod];
  for (int i = 0; i < kPeriod; ++i) values[i] = bits_of(type, part.base + part.factor * i);
  size_t phase = part.first % kPeriod;
  for (size_t i = 0; i < count; ++i) {
    if (type == TYPE_FLOAT32)
      ((uint32_t*)out)[i] = values[phase];
    else
      ((uint16_t*)out)[i] = (uint16_t)values[phase];
    if (++phase == kPeriod) phase = 0;
  }
}

/* The index of the first wrong element, or `count`. */
static size_t first_wrong(enum type type, const void* in, struct part part, size_t count,
                          uint32_t* expected) {
  uint32_t values[kPeriod];
  for (int i = 0; i < kPeriod; ++i) values[i] = bits_of(type, part.base + part.factor * i);
  size_t phase = part.first % kPeriod;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t got = type == TYPE_FLOAT32 ? ((const uint32_t*)in)[i] : ((const uint16_t*)in)[i];
    *expected = values[phase];
    if (got != *expected) return i;
    if (++phase == kPeriod) phase = 0;
  }
  return count;
}

static size_t send_blocks(const struct buffers* b, enum collective collective) {
  switch (collective) {
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALLTOALL: return (size_t)b->ranks;
    case COLLECTIVE_SCATTER: return b->rank == 0 ? (size_t)b->ranks : 0;
    case COLLECTIVE_BARRIER: return 0;
    default: return 1;
  }
}

static size_t recv_blocks(const struct buffers* b, enum collective collective) {
  switch (collective) {
    case COLLECTIVE_ALLGATHER:
    case COLLECTIVE_ALLTOALL: return (size_t)b->ranks;
    case COLLECTIVE_GATHER: return b->rank == 0 ? (size_t)b->ranks : 0;
    case COLLECTIVE_REDUCE: return b->rank == 0;
    case COLLECTIVE_BARRIER: return 0;
    default: return 1;
  }
}

/* Block `block` of the result. */
static struct part expected_part(const struct buffers* b, const struct operation* o, size_t block) {
  const size_t mine = (size_t)b->rank * o->count;
  const struct part sum = {b->ranks * (b->ranks + 1) / 2, b->ranks, 0};
  const struct part from_block = {(int)block + 1, 1, 0};
  switch (o->collective) {
    case COLLECTIVE_BROADCAST: return (struct part){1, 1, 0};
    case COLLECTIVE_SCATTER: return (struct part){1, 1, mine};
    case COLLECTIVE_SENDRECV: return (struct part){(b->rank + b->ranks - 1) % b->ranks + 1, 1, 0};
    case COLLECTIVE_ALLGATHER:
    case COLLECTIVE_GATHER: return from_block;
    case COLLECTIVE_ALLTOALL: return (struct part){from_block.base, 1, mine};
    case COLLECTIVE_REDUCE_SCATTER: return (struct part){sum.base, sum.factor, mine};
    default: return sum;
  }
}

/* Keeps memory that is large enough, for pages that are already present. */
static int make_room(char** memory, size_t* room, size_t bytes) {
  if (bytes <= *room) return 1;
  free(*memory);
  *memory = NULL;
  *room = 0;
  if (posix_memalign((void**)memory, kAlignment, bytes) != 0) return 0;
  /* A request only, where the system has it so set. In small pages, how long copies of 16 MB and
   * more take depends on which ones a contestant happens to have: by a factor of two. */
  (void)madvise(*memory, bytes, MADV_HUGEPAGE);
  *room = bytes;
  return 1;
}

const char* set_up_buffers(struct buffers* b, const struct operation* operation, size_t sets) {
  struct operation o = *operation;
  const size_t block = o.count * type_size(o.type);
  b->send_bytes = send_blocks(b, o.collective) * block;
  b->recv_bytes = recv_blocks(b, o.collective) * block;
  const size_t larger = b->send_bytes > b->recv_bytes ? b->send_bytes : b->recv_bytes;
  b->sets = sets;
  b->set = 0;
  b->stride = sets == 1 ? 0 : round_up(larger, kLine) + kLine;
  const size_t room = b->stride * (sets - 1) + round_up(larger + 1, kAlignment);
  if (!make_room(&b->recv, &b->recv_room, room) ||
      (!o.in_place && !make_room(&b->send, &b->send_room, room)))
    return "out of memory";
  for (size_t i = 0; i < sets; ++i) {
    take_next_set(b, &o);
    write_input(b, &o);
  }
  return NULL;
}

void take_next_set(struct buffers* b, struct operation* o) {
  const size_t offset = b->set * b->stride;
  const size_t mine = (size_t)b->rank * o->count * type_size(o->type);
  o->recv = b->recv + offset;
  o->send = b->send + offset;
  if (o->in_place) {
    char* const both = o->recv;
    const int root_or_all = b->rank == 0 || o->collective == COLLECTIVE_ALLGATHER ||
                            o->collective == COLLECTIVE_REDUCE_SCATTER;
    o->send = both;
    if (root_or_all &&
        (o->collective == COLLECTIVE_ALLGATHER || o->collective == COLLECTIVE_GATHER))
      o->send = both + mine;
    if (root_or_all &&
        (o->collective == COLLECTIVE_REDUCE_SCATTER || o->collective == COLLECTIVE_SCATTER))
      o->recv = both + mine;
  }
  if (++b->set == b->sets) b->set = 0;
}

void write_input(const struct buffers* b, const struct operation* o) {
  const size_t size = type_size(o->type);
  const int source = o->collective == COLLECTIVE_BROADCAST && b->rank == 0;
  memset(o->recv, 0xFF, b->recv_bytes); /* not-a-number in every type */
  fill_part(o->type, source ? o->recv : (void*)(uintptr_t)o->send, (struct part){b->rank + 1, 1, 0},
            source ? o->count : b->send_bytes / size);
}

const char* wrong_element(const struct buffers* b, const struct operation* o) {
  static char text[160];
  const size_t size = type_size(o->type);
  const size_t blocks = recv_blocks(b, o->collective);
  for (size_t block = 0; block < blocks; ++block) {
    uint32_t expected = 0;
    const char* part = (const char*)o->recv + block * o->count * size;
    const size_t i = first_wrong(o->type, part, expected_part(b, o, block), o->count, &expected);
    if (i == o->count) continue;
    uint32_t got = 0;
    memcpy(&got, part + i * size, size);
    snprintf(text, sizeof text, "wrong result: rank %d, index %zu, got %g, expected %g", b->rank,
             block * o->count + i, value_of(o->type, got), value_of(o->type, expected));
    return text;
  }
  return NULL;
}
