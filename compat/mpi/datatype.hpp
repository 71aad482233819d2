// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Types: where the bytes of an element lie, and what they are.
//
// Data goes between ranks packed, without gaps. Elements that have none go from where they lie and
// to where they are to be; others through memory aside (buffers.hpp).
#pragma once

#include <cstddef>
#include <vector>

#include "attributes.hpp"
#include "handles.hpp"

namespace tutti_mpi {

// The kind of an element, as reductions see it.
enum class Kind : uint8_t {
#define TUTTI_MPI_KIND(kind, ...) kind,
#include "kinds.inc"
#undef TUTTI_MPI_KIND
};

// `count` basic elements of `unit` bytes, one after the other.
struct Run {
  MPI_Aint offset;
  size_t unit;
  size_t count;
  [[nodiscard]] size_t bytes() const { return unit * count; }
};

}  // namespace tutti_mpi

struct MPI_ABI_Datatype final : tutti_mpi::Counted {
  [[nodiscard]] MPI_Datatype handle() {
    return number != 0 ? reinterpret_cast<MPI_Datatype>(number) : this;
  }

  std::vector<tutti_mpi::Run> runs;  // in the order of packing
  size_t size = 0;
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lb = 0;
  MPI_Aint true_extent = 0;
  MPI_Aint alignment = 1;  // alignment that a structure with it has
  bool dense = true;       // elements one after the other have no gaps: they begin at true_lb
  tutti_mpi::Kind kind = tutti_mpi::Kind::kNone;
  uintptr_t number = 0;  // of a predefined handle; else 0
  std::string name;
  tutti_mpi::Attributes attributes;
  // The arguments that it was made of, for MPI_Type_get_contents.
  int combiner = MPI_COMBINER_NAMED;
  bool large = false;  // made by a function with large counts
  std::vector<MPI_Count> integers;
  std::vector<MPI_Count> addresses;
  std::vector<tutti_mpi::Ref<MPI_ABI_Datatype>> parts;
};

namespace tutti_mpi {

using Type = MPI_ABI_Datatype;

Type& find(MPI_Datatype type);
template <typename N>
size_t count_of(N count) {
  expect(count >= 0, MPI_ERR_COUNT, "a count is negative");
  return static_cast<size_t>(count);
}
// Copies `bytes` packed bytes out of elements at `elements`, or into them.
void pack(const Type& type, const void* elements, size_t bytes, std::byte* packed);
void unpack(const Type& type, void* elements, size_t bytes, const std::byte* packed);

}  // namespace tutti_mpi
