// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Queries of types, packing by hand, and a status in elements.
#include <algorithm>
#include <cstring>
#include <limits>

#include "datatype.hpp"
#include "status.hpp"

namespace tutti_mpi {
namespace {

// Writes to an int or a larger type; MPI_UNDEFINED if the value does not fit.
template <typename N>
void give(N* where, MPI_Count value) {
  const bool fits = value <= static_cast<MPI_Count>(std::numeric_limits<N>::max()) &&
                    value >= static_cast<MPI_Count>(std::numeric_limits<N>::min());
  *where = fits ? static_cast<N>(value) : static_cast<N>(MPI_UNDEFINED);
}

template <typename N>
void count_whole(const MPI_Status* status, MPI_Datatype handle, N* count) {
  const Type& type = find(handle);
  const size_t bytes = bytes_in(*status);
  if (type.size == 0) {
    *count = bytes == 0 ? 0 : static_cast<N>(MPI_UNDEFINED);
  } else if (bytes % type.size != 0) {
    *count = static_cast<N>(MPI_UNDEFINED);
  } else {
    give(count, static_cast<MPI_Count>(bytes / type.size));
  }
}

template <typename N>
void count_basic(const MPI_Status* status, MPI_Datatype handle, N* count) {
  const Type& type = find(handle);
  size_t bytes = bytes_in(*status);
  size_t elements = 0;
  if (type.size > 0) {
    size_t whole = 0;
    for (const Run& run : type.runs) whole += run.count;
    elements = bytes / type.size * whole;
    bytes %= type.size;
  }
  for (const Run& run : type.runs) {
    if (bytes == 0) break;
    const size_t here = std::min(bytes, run.bytes());
    if (here % run.unit != 0) {
      *count = static_cast<N>(MPI_UNDEFINED);
      return;
    }
    elements += here / run.unit;
    bytes -= here;
  }
  give(count, static_cast<MPI_Count>(elements));
}

template <typename N>
void set_elements(MPI_Status* status, MPI_Datatype handle, N count) {
  set_bytes(*status, find(handle).size * count_of(count));
}

// The bytes of so many elements, which fit between the position and the end.
template <typename N, typename Position>
size_t bytes_at(const Type& type, N count, Position end, Position position) {
  const size_t bytes = type.size * count_of(count);
  expect(static_cast<MPI_Count>(bytes) <= static_cast<MPI_Count>(end - position), MPI_ERR_ARG,
         "the buffer ends before the data");
  return bytes;
}
template <typename N, typename Position>
void pack_at(const void* in, N count, MPI_Datatype handle, void* out, Position room,
             Position* position) {
  const size_t bytes = bytes_at(find(handle), count, room, *position);
  pack(find(handle), in, bytes, static_cast<std::byte*>(out) + *position);
  *position = static_cast<Position>(*position + static_cast<Position>(bytes));
}
template <typename N, typename Position>
void unpack_at(const void* in, Position size, Position* position, void* out, N count,
               MPI_Datatype handle) {
  const size_t bytes = bytes_at(find(handle), count, size, *position);
  unpack(find(handle), out, bytes, static_cast<const std::byte*>(in) + *position);
  *position = static_cast<Position>(*position + static_cast<Position>(bytes));
}

// "external32": big-endian, which this library does not make.
void expect_native(const char* datarep) {
  expect(std::strcmp(datarep, "native") == 0 || std::strcmp(datarep, "internal") == 0,
         MPI_ERR_UNSUPPORTED_OPERATION, "only the representation \"native\" is there");
}

// Arguments of a function with large counts are returned as counts, but for ints.
bool is_count(const Type& type, size_t i) {
  const bool of_array = type.combiner == MPI_COMBINER_SUBARRAY;
  return type.large && !(of_array && (i == 0 || i + 1 == type.integers.size()));
}

// The numbers of its arguments. Without `counts` they are integers and addresses.
template <typename N>
void give_envelope(const Type& type, N* integers, N* addresses, N* counts, N* types,
                   int* combiner) {
  *combiner = type.combiner;
  *integers = static_cast<N>(type.integers.size());
  *addresses = static_cast<N>(type.addresses.size());
  *types = static_cast<N>(type.parts.size());
  if (counts == nullptr) return;
  *counts = 0;
  for (size_t i = 0; i < type.integers.size(); ++i) *counts += is_count(type, i) ? 1 : 0;
  *integers -= *counts;
  if (type.large) *counts += std::exchange(*addresses, 0);
}
// The arguments themselves.
void give_contents(const Type& type, int* integers, MPI_Aint* addresses, MPI_Count* counts,
                   MPI_Datatype* types) {
  expect(type.combiner != MPI_COMBINER_NAMED, MPI_ERR_TYPE, "the type is not made of others");
  for (size_t i = 0; i < type.parts.size(); ++i) {
    Type& part = *type.parts[i];
    if (part.number == 0) part.keep();
    types[i] = part.handle();
  }
  for (size_t i = 0; i < type.integers.size(); ++i) {
    if (counts != nullptr && is_count(type, i)) {
      *counts++ = type.integers[i];
    } else {
      *integers++ = static_cast<int>(type.integers[i]);
    }
  }
  for (const MPI_Count one : type.addresses) {
    if (counts != nullptr && type.large) {
      *counts++ = one;
    } else {
      *addresses++ = static_cast<MPI_Aint>(one);
    }
  }
}

}  // namespace
}  // namespace tutti_mpi

using namespace tutti_mpi;

#define FN(name) name
#define N int
#define A MPI_Aint
#include "datatype_query.inc"
#define FN(name) name##_c
#define N MPI_Count
#define A MPI_Count
#include "datatype_query.inc"
#define FN(name) name##_x
#define N MPI_Count
#define A MPI_Count
#define TUTTI_MPI_OLD_LARGE
#include "datatype_query.inc"

TUTTI_MPI_DO(Type_get_envelope,
             (MPI_Datatype handle, int* integers, int* addresses, int* types, int* combiner),
             give_envelope<int>(find(handle), integers, addresses, nullptr, types, combiner))
TUTTI_MPI_DO(Type_get_envelope_c,
             (MPI_Datatype handle, MPI_Count* integers, MPI_Count* addresses, MPI_Count* counts,
              MPI_Count* types, int* combiner),
             give_envelope(find(handle), integers, addresses, counts, types, combiner))
TUTTI_MPI_DO(Type_get_contents,
             (MPI_Datatype handle, int, int, int, int integers[], MPI_Aint addresses[],
              MPI_Datatype types[]),
             give_contents(find(handle), integers, addresses, nullptr, types))
TUTTI_MPI_DO(Type_get_contents_c,
             (MPI_Datatype handle, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int integers[],
              MPI_Aint addresses[], MPI_Count counts[], MPI_Datatype types[]),
             give_contents(find(handle), integers, addresses, counts, types))
TUTTI_MPI_DO(Type_set_name, (MPI_Datatype type, const char* name), find(type).name = name)
TUTTI_MPI_DO(Type_get_name, (MPI_Datatype type, char* name, int* length), {
  const std::string text = type == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL" : find(type).name;
  give_text(text, MPI_MAX_OBJECT_NAME, name, length);
})
TUTTI_MPI_DO(Type_match_size, (int typeclass, int size, MPI_Datatype* type), {
  struct Match {
    int typeclass;
    int size;
    MPI_Datatype type;
  };
  const Match matches[] = {
      {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1}, {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
      {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4}, {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
      {MPI_TYPECLASS_REAL, 4, MPI_REAL4},       {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
      {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8}, {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
  };
  for (const Match& match : matches) {
    if (match.typeclass != typeclass || match.size != size) continue;
    *type = match.type;
    return;
  }
  fail(MPI_ERR_ARG, "no type of this class has this size");
})
TUTTI_MPI_DO(Type_get_value_index, (MPI_Datatype value, MPI_Datatype index, MPI_Datatype* pair), {
  find(value);
  find(index);
  *pair = MPI_DATATYPE_NULL;
  if (index == MPI_INT && value == MPI_FLOAT) *pair = MPI_FLOAT_INT;
  if (index == MPI_INT && value == MPI_DOUBLE) *pair = MPI_DOUBLE_INT;
  if (index == MPI_INT && value == MPI_LONG) *pair = MPI_LONG_INT;
  if (index == MPI_INT && value == MPI_INT) *pair = MPI_2INT;
  if (index == MPI_INT && value == MPI_SHORT) *pair = MPI_SHORT_INT;
  if (index == MPI_INT && value == MPI_LONG_DOUBLE) *pair = MPI_LONG_DOUBLE_INT;
})
