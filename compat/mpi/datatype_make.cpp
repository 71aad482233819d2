// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Types made of others. Each is a list of blocks of elements of another type, at places in bytes.
#include <algorithm>
#include <climits>
#include <limits>

#include "datatype.hpp"

namespace tutti_mpi {
namespace {

struct Part {
  MPI_Aint offset;
  size_t count;
  Type* type;
};

// Adjacent runs become one, so that a type without gaps has few.
void append(std::vector<Run>& runs, MPI_Aint offset, const Run& run) {
  if (run.count == 0) return;
  if (!runs.empty()) {
    Run& last = runs.back();
    if (last.unit == run.unit && last.offset + static_cast<MPI_Aint>(last.bytes()) == offset) {
      last.count += run.count;
      return;
    }
  }
  runs.push_back({offset, run.unit, run.count});
}

Type& make(int combiner, const std::vector<Part>& parts) {
  auto* const made = new Type;
  made->combiner = combiner;
  constexpr MPI_Aint kMost = std::numeric_limits<MPI_Aint>::max();
  MPI_Aint lb = kMost, ub = -kMost, true_lb = kMost, true_ub = -kMost;
  for (const Part& part : parts) {
    const Type& type = *part.type;
    if (part.count == 0) continue;
    const MPI_Aint last = part.offset + static_cast<MPI_Aint>(part.count - 1) * type.extent;
    const auto [low, high] = std::minmax(part.offset, last);
    lb = std::min(lb, low + type.lb);
    ub = std::max(ub, high + type.lb + type.extent);
    made->alignment = std::max(made->alignment, type.alignment);
    if (type.size == 0) continue;
    true_lb = std::min(true_lb, low + type.true_lb);
    true_ub = std::max(true_ub, high + type.true_lb + type.true_extent);
    made->size += part.count * type.size;
    if (type.dense && type.runs.size() == 1) {
      const Run& run = type.runs.front();
      append(made->runs, part.offset + run.offset, {0, run.unit, run.count * part.count});
      continue;
    }
    for (size_t i = 0; i < part.count; ++i) {
      const MPI_Aint at = part.offset + static_cast<MPI_Aint>(i) * type.extent;
      for (const Run& run : type.runs) append(made->runs, at + run.offset, run);
    }
  }
  if (lb <= ub) {
    made->lb = lb;
    made->extent = ub - lb;
    if (combiner == MPI_COMBINER_STRUCT) {  // compilers lay it out so
      const MPI_Aint over = made->extent % made->alignment;
      if (over != 0) made->extent += made->alignment - over;
    }
  }
  if (true_lb <= true_ub) {
    made->true_lb = true_lb;
    made->true_extent = true_ub - true_lb;
  }
  return *made;
}

// Elements without gaps are one block, of several units perhaps.
void settle(Type& type) {
  type.dense = static_cast<MPI_Aint>(type.size) == type.extent;
  MPI_Aint end = type.true_lb;
  for (const Run& run : type.runs) {
    type.dense = type.dense && run.offset == end;
    end = run.offset + static_cast<MPI_Aint>(run.bytes());
  }
}

MPI_Datatype made(Type& type, std::vector<MPI_Count> integers, std::vector<MPI_Count> addresses,
                  std::initializer_list<Type*> parts) {
  settle(type);
  type.integers = std::move(integers);
  type.addresses = std::move(addresses);
  for (Type* const part : parts) type.parts.emplace_back(*part);
  return &type;
}

template <typename N>
MPI_Datatype contiguous(N count, MPI_Datatype old) {
  Type& type = find(old);
  return made(make(MPI_COMBINER_CONTIGUOUS, {{0, count_of(count), &type}}), {count}, {}, {&type});
}

template <typename N>
MPI_Datatype vector(int combiner, N count, N length, MPI_Aint stride, MPI_Datatype old) {
  Type& type = find(old);
  const bool in_bytes = combiner == MPI_COMBINER_HVECTOR;
  const MPI_Aint step = in_bytes ? stride : stride * type.extent;
  std::vector<Part> parts;
  for (size_t i = 0; i < count_of(count); ++i) {
    parts.push_back({static_cast<MPI_Aint>(i) * step, count_of(length), &type});
  }
  Type& made_type = make(combiner, parts);
  if (in_bytes) return made(made_type, {count, length}, {stride}, {&type});
  return made(made_type, {count, length, stride}, {}, {&type});
}

// Blocks of one type; `lengths` has one entry for all of them, or one each.
template <typename N, typename D>
MPI_Datatype indexed(int combiner, N count, const N* lengths, bool alike, const D* places,
                     bool in_bytes, MPI_Datatype old) {
  Type& type = find(old);
  std::vector<Part> parts;
  std::vector<MPI_Count> integers = {count};
  std::vector<MPI_Count> addresses;
  for (size_t i = 0; i < count_of(count); ++i) {
    const MPI_Aint place = static_cast<MPI_Aint>(places[i]) * (in_bytes ? 1 : type.extent);
    parts.push_back({place, count_of(lengths[alike ? 0 : i]), &type});
    if (!alike) integers.push_back(lengths[i]);
  }
  if (alike) integers.push_back(lengths[0]);
  for (size_t i = 0; i < count_of(count); ++i) {
    (in_bytes ? addresses : integers).push_back(static_cast<MPI_Count>(places[i]));
  }
  return made(make(combiner, parts), std::move(integers), std::move(addresses), {&type});
}

template <typename N, typename D>
MPI_Datatype structure(N count, const N* lengths, const D* places, const MPI_Datatype* types) {
  std::vector<Part> parts;
  std::vector<MPI_Count> integers = {count};
  std::vector<MPI_Count> addresses;
  for (size_t i = 0; i < count_of(count); ++i) {
    parts.push_back({static_cast<MPI_Aint>(places[i]), count_of(lengths[i]), &find(types[i])});
    integers.push_back(lengths[i]);
    addresses.push_back(static_cast<MPI_Count>(places[i]));
  }
  Type& type = make(MPI_COMBINER_STRUCT, parts);
  for (const Part& part : parts) type.parts.emplace_back(*part.type);
  return made(type, std::move(integers), std::move(addresses), {});
}

// A part of an array of the program's, in its order of dimensions.
template <typename N>
MPI_Datatype subarray(int dimensions, const N* sizes, const N* subsizes, const N* starts, int order,
                      MPI_Datatype old) {
  expect(dimensions > 0, MPI_ERR_ARG, "an array has at least one dimension");
  expect(order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN, MPI_ERR_ARG, "order is unknown");
  Type& type = find(old);
  std::vector<MPI_Count> integers = {dimensions};
  for (const N* const array : {sizes, subsizes, starts}) {
    integers.insert(integers.end(), array, array + dimensions);
  }
  integers.push_back(order);
  // The dimension that changes fastest comes first.
  Type* row = &type;
  Ref<Type> kept;
  MPI_Aint step = type.extent;
  MPI_Aint offset = 0;
  for (int i = 0; i < dimensions; ++i) {
    const int at = order == MPI_ORDER_C ? dimensions - 1 - i : i;
    expect(subsizes[at] >= 1 && starts[at] >= 0 && starts[at] + subsizes[at] <= sizes[at],
           MPI_ERR_ARG, "the part lies outside of the array");
    std::vector<Part> parts;
    for (N j = 0; j < subsizes[at]; ++j) {
      parts.push_back({static_cast<MPI_Aint>(j) * step, 1, row});
    }
    Type& whole = make(MPI_COMBINER_SUBARRAY, parts);
    settle(whole);
    offset += static_cast<MPI_Aint>(starts[at]) * step;
    step *= static_cast<MPI_Aint>(sizes[at]);
    row = &whole;
    kept = Ref<Type>(whole);
    whole.drop();
  }
  Type& shifted = make(MPI_COMBINER_SUBARRAY, {{offset, 1, row}});
  shifted.lb = 0;
  shifted.extent = step;
  return made(shifted, std::move(integers), {}, {&type});
}

MPI_Datatype resized(MPI_Datatype old, MPI_Aint lb, MPI_Aint extent) {
  Type& type = find(old);
  Type& other = make(MPI_COMBINER_RESIZED, {{0, 1, &type}});
  other.alignment = 1;
  other.lb = lb;
  other.extent = extent;
  return made(other, {}, {lb, extent}, {&type});
}

template <typename N>
MPI_Datatype sized(MPI_Datatype type) {
  type->large = sizeof(N) > sizeof(int);
  return type;
}

}  // namespace
}  // namespace tutti_mpi

using namespace tutti_mpi;

#define FN(name) name
#define N int
#define D int
#define A MPI_Aint
#include "datatype_make.inc"
#define FN(name) name##_c
#define N MPI_Count
#define D MPI_Count
#define A MPI_Count
#include "datatype_make.inc"

TUTTI_MPI_DO(Type_dup, (MPI_Datatype old, MPI_Datatype* dup), {
  Type& type = find(old);
  Type& copy = make(MPI_COMBINER_DUP, {{0, 1, &type}});
  copy.lb = type.lb;
  copy.extent = type.extent;
  copy.kind = type.kind;
  *dup = made(copy, {}, {}, {&type});
  copy.attributes.copy_from(Keeper::kType, type.attributes, old);
})
TUTTI_MPI_DO(Type_commit, (MPI_Datatype * type), find(*type))
TUTTI_MPI_DO(Type_free, (MPI_Datatype * type), {
  expect(!is_predefined(*type), MPI_ERR_TYPE, "it is not a type of the program's");
  (*type)->attributes.clear(Keeper::kType, *type);
  std::exchange(*type, MPI_DATATYPE_NULL)->drop();
})
