// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "datatype.hpp"

#include <array>
#include <complex>
#include <cstring>
#include <cwchar>
#include <memory>

namespace tutti_mpi {
namespace {

constexpr uintptr_t kFirst = 0x200;
constexpr size_t kPredefined = 0x100;

static_assert(sizeof(long) == sizeof(int64_t) && sizeof(long double) == 16);

class Predefined {
 public:
  Predefined() {
#define TUTTI_MPI_BASIC(name, type, kind) basic(MPI_##name, "MPI_" #name, sizeof(type), Kind::kind);
#define TUTTI_MPI_PAIR(name, one, other, kind)                                        \
  {                                                                                   \
    struct Pair {                                                                     \
      one value;                                                                      \
      other index;                                                                    \
    };                                                                                \
    pair(MPI_##name, "MPI_" #name, sizeof(one), offsetof(Pair, index), sizeof(other), \
         sizeof(Pair), Kind::kind);                                                   \
  }
#include "datatype_types.inc"
#undef TUTTI_MPI_BASIC
#undef TUTTI_MPI_PAIR
  }

  Type* at(uintptr_t number) const {
    return number >= kFirst && number < kFirst + kPredefined ? types_[number - kFirst].get()
                                                             : nullptr;
  }

 private:
  Type& add(MPI_Datatype handle, const char* name, Kind kind, size_t extent) {
    auto& type = types_[number_of(handle) - kFirst];
    type = std::make_unique<Type>();
    type->number = number_of(handle);
    type->name = name;
    type->kind = kind;
    type->extent = static_cast<MPI_Aint>(extent);
    return *type;
  }
  void basic(MPI_Datatype handle, const char* name, size_t bytes, Kind kind) {
    Type& type = add(handle, name, kind, bytes);
    type.runs = {{0, bytes, 1}};
    if (bytes <= alignof(long double)) type.alignment = static_cast<MPI_Aint>(bytes);
    type.size = bytes;
    type.true_extent = type.extent;
  }
  void pair(MPI_Datatype handle, const char* name, size_t first, size_t offset, size_t second,
            size_t extent, Kind kind) {
    Type& type = add(handle, name, kind, extent);
    type.runs = first == second
                    ? std::vector<Run>{{0, first, 2}}
                    : std::vector<Run>{{0, first, 1}, {static_cast<MPI_Aint>(offset), second, 1}};
    type.size = first + second;
    type.alignment = static_cast<MPI_Aint>(std::max(first, second));
    type.true_extent = static_cast<MPI_Aint>(offset + second);
    type.dense = type.size == extent;
  }

  std::array<std::unique_ptr<Type>, kPredefined> types_;
};

// Calls visit(address of a run, its bytes) for `bytes` packed bytes of elements.
template <typename Address, typename Visit>
void for_each_run(const Type& type, Address elements, size_t bytes, Visit&& visit) {
  for (Address element = elements; bytes > 0; element += type.extent) {
    for (const Run& run : type.runs) {
      const size_t here = std::min(run.bytes(), bytes);
      if (here == 0) continue;
      visit(element + run.offset, here);
      bytes -= here;
    }
    if (type.size == 0) return;
  }
}

}  // namespace

Type& find(MPI_Datatype handle) {
  static const Predefined predefined;
  if (!is_predefined(handle)) return *handle;
  Type* const type = predefined.at(number_of(handle));
  if (type == nullptr) fail(MPI_ERR_TYPE, "it is not a datatype");
  return *type;
}

void pack(const Type& type, const void* elements, size_t bytes, std::byte* packed) {
  if (bytes == 0) return;
  const auto* const from = static_cast<const std::byte*>(elements);
  if (type.dense) {
    std::memcpy(packed, from + type.true_lb, bytes);
    return;
  }
  for_each_run(type, from, bytes, [&](const std::byte* run, size_t here) {
    std::memcpy(packed, run, here);
    packed += here;
  });
}

void unpack(const Type& type, void* elements, size_t bytes, const std::byte* packed) {
  if (bytes == 0) return;
  auto* const to = static_cast<std::byte*>(elements);
  if (type.dense) {
    std::memcpy(to + type.true_lb, packed, bytes);
    return;
  }
  for_each_run(type, to, bytes, [&](std::byte* run, size_t here) {
    std::memcpy(run, packed, here);
    packed += here;
  });
}

}  // namespace tutti_mpi
