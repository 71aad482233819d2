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

class Predefined {
 public:
  Predefined() {
    const Kind long_kind = sizeof(long) == 8 ? Kind::kInt64 : Kind::kInt32;
    const Kind unsigned_long_kind = sizeof(long) == 8 ? Kind::kUint64 : Kind::kUint32;
#define BASIC(name, type, kind) basic(MPI_##name, "MPI_" #name, sizeof(type), Kind::kind)
    BASIC(AINT, MPI_Aint, kInt64);
    BASIC(COUNT, MPI_Count, kInt64);
    BASIC(OFFSET, MPI_Offset, kInt64);
    BASIC(PACKED, char, kNone);
    BASIC(SHORT, short, kInt16);
    BASIC(INT, int, kInt32);
    basic(MPI_LONG, "MPI_LONG", sizeof(long), long_kind);
    BASIC(LONG_LONG, long long, kInt64);
    BASIC(UNSIGNED_SHORT, short, kUint16);
    BASIC(UNSIGNED, int, kUint32);
    basic(MPI_UNSIGNED_LONG, "MPI_UNSIGNED_LONG", sizeof(long), unsigned_long_kind);
    BASIC(UNSIGNED_LONG_LONG, long long, kUint64);
    BASIC(FLOAT, float, kFloat);
    BASIC(C_FLOAT_COMPLEX, std::complex<float>, kComplexFloat);
    BASIC(CXX_FLOAT_COMPLEX, std::complex<float>, kComplexFloat);
    BASIC(DOUBLE, double, kDouble);
    BASIC(C_DOUBLE_COMPLEX, std::complex<double>, kComplexDouble);
    BASIC(CXX_DOUBLE_COMPLEX, std::complex<double>, kComplexDouble);
    BASIC(LOGICAL, int, kInt32);
    BASIC(INTEGER, int, kInt32);
    BASIC(REAL, float, kFloat);
    BASIC(COMPLEX, std::complex<float>, kComplexFloat);
    BASIC(DOUBLE_PRECISION, double, kDouble);
    BASIC(DOUBLE_COMPLEX, std::complex<double>, kComplexDouble);
    BASIC(CHARACTER, char, kNone);
    BASIC(LONG_DOUBLE, long double, kLongDouble);
    BASIC(C_LONG_DOUBLE_COMPLEX, std::complex<long double>, kComplexLongDouble);
    BASIC(CXX_LONG_DOUBLE_COMPLEX, std::complex<long double>, kComplexLongDouble);
    BASIC(C_BOOL, bool, kBool);
    BASIC(CXX_BOOL, bool, kBool);
    BASIC(WCHAR, wchar_t, kNone);
    BASIC(INT8_T, char, kInt8);
    BASIC(UINT8_T, char, kUint8);
    BASIC(CHAR, char, kInt8);
    BASIC(SIGNED_CHAR, char, kInt8);
    BASIC(UNSIGNED_CHAR, char, kUint8);
    BASIC(BYTE, char, kByte);
    BASIC(INT16_T, int16_t, kInt16);
    BASIC(UINT16_T, int16_t, kUint16);
    BASIC(INT32_T, int32_t, kInt32);
    BASIC(UINT32_T, int32_t, kUint32);
    BASIC(INT64_T, int64_t, kInt64);
    BASIC(UINT64_T, int64_t, kUint64);
    BASIC(LOGICAL1, int8_t, kInt8);
    BASIC(INTEGER1, int8_t, kInt8);
    BASIC(LOGICAL2, int16_t, kInt16);
    BASIC(INTEGER2, int16_t, kInt16);
    BASIC(REAL2, int16_t, kNone);
    BASIC(LOGICAL4, int32_t, kInt32);
    BASIC(INTEGER4, int32_t, kInt32);
    BASIC(REAL4, float, kFloat);
    BASIC(COMPLEX4, int32_t, kNone);
    BASIC(LOGICAL8, int64_t, kInt64);
    BASIC(INTEGER8, int64_t, kInt64);
    BASIC(REAL8, double, kDouble);
    BASIC(COMPLEX8, std::complex<float>, kComplexFloat);
    BASIC(LOGICAL16, std::complex<double>, kNone);
    BASIC(INTEGER16, std::complex<double>, kNone);
    BASIC(REAL16, std::complex<double>, kNone);
    BASIC(COMPLEX16, std::complex<double>, kComplexDouble);
    basic(MPI_COMPLEX32, "MPI_COMPLEX32", 32, Kind::kNone);
#undef BASIC
#define PAIR(name, one, other, kind)                                                  \
  {                                                                                   \
    struct Pair {                                                                     \
      one value;                                                                      \
      other index;                                                                    \
    };                                                                                \
    pair(MPI_##name, "MPI_" #name, sizeof(one), offsetof(Pair, index), sizeof(other), \
         sizeof(Pair), Kind::kind);                                                   \
  }
    PAIR(FLOAT_INT, float, int, kFloatInt)
    PAIR(DOUBLE_INT, double, int, kDoubleInt)
    PAIR(LONG_INT, long, int, kLongInt)
    PAIR(2INT, int, int, kIntInt)
    PAIR(SHORT_INT, short, int, kShortInt)
    PAIR(LONG_DOUBLE_INT, long double, int, kLongDoubleInt)
    PAIR(2REAL, float, float, kFloatFloat)
    PAIR(2DOUBLE_PRECISION, double, double, kDoubleDouble)
    PAIR(2INTEGER, int, int, kIntInt)
#undef PAIR
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
    type.runs = {{0, first, 1}, {static_cast<MPI_Aint>(offset), second, 1}};
    if (first == second) type.runs = {{0, first, 2}};
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
