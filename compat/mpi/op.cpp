// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "op.hpp"

#include <array>
#include <climits>
#include <complex>
#include <cstring>
#include <memory>

namespace tutti_mpi {
namespace {

enum Which : uintptr_t {
  kSum = 0x21,
  kMin,
  kMax,
  kProd,
  kBand = 0x28,
  kBor,
  kBxor,
  kLand = 0x30,
  kLor,
  kLxor,
  kMinloc = 0x38,
  kMaxloc,
  kReplace = 0x3c,
  kNoOp
};
// The library's own operation for each, if any.
constexpr std::pair<Which, std::optional<tutti_op>> kOps[] = {
    {kSum, TUTTI_SUM},        {kMin, TUTTI_MIN},       {kMax, TUTTI_MAX},
    {kProd, TUTTI_PROD},      {kBand, TUTTI_BAND},     {kBor, TUTTI_BOR},
    {kBxor, TUTTI_BXOR},      {kLand, std::nullopt},   {kLor, std::nullopt},
    {kLxor, std::nullopt},    {kMinloc, std::nullopt}, {kMaxloc, std::nullopt},
    {kReplace, std::nullopt}, {kNoOp, std::nullopt},
};

class Predefined {
 public:
  Predefined() {
    for (const auto& [which, native] : kOps) {
      ops_[which] = std::make_unique<Op>();
      ops_[which]->native = native;
      ops_[which]->number = which;
      ops_[which]->commutes = which != kReplace && which != kNoOp;
    }
  }
  Op* at(uintptr_t number) const { return number < ops_.size() ? ops_[number].get() : nullptr; }

 private:
  std::array<std::unique_ptr<Op>, 0x40> ops_;
};

template <typename T, typename Combine>
bool each(const void* in, void* inout, size_t count, Combine&& combine) {
  const T* const source = static_cast<const T*>(in);
  T* const target = static_cast<T*>(inout);
  for (size_t i = 0; i < count; ++i) target[i] = combine(source[i], target[i]);
  return true;
}

template <typename T>
bool bitwise(uintptr_t which, const void* in, void* inout, size_t count) {
  if (which == kBand) return each<T>(in, inout, count, [](T a, T b) { return T(a & b); });
  if (which == kBor) return each<T>(in, inout, count, [](T a, T b) { return T(a | b); });
  if (which == kBxor) return each<T>(in, inout, count, [](T a, T b) { return T(a ^ b); });
  return false;
}
template <typename T>
bool logical(uintptr_t which, const void* in, void* inout, size_t count) {
  const auto is = [](T value) { return value != T{}; };
  if (which == kLand) return each<T>(in, inout, count, [&](T a, T b) { return T(is(a) && is(b)); });
  if (which == kLor) return each<T>(in, inout, count, [&](T a, T b) { return T(is(a) || is(b)); });
  if (which == kLxor) return each<T>(in, inout, count, [&](T a, T b) { return T(is(a) != is(b)); });
  return false;
}
template <typename T>
bool sums(uintptr_t which, const void* in, void* inout, size_t count) {
  if (which == kSum) return each<T>(in, inout, count, [](T a, T b) { return T(a + b); });
  if (which == kProd) return each<T>(in, inout, count, [](T a, T b) { return T(a * b); });
  return false;
}
template <typename T>
bool ordered(uintptr_t which, const void* in, void* inout, size_t count) {
  if (which == kMin) return each<T>(in, inout, count, [](T a, T b) { return b < a ? b : a; });
  if (which == kMax) return each<T>(in, inout, count, [](T a, T b) { return a < b ? b : a; });
  return false;
}
// Integers wrap: sums and products are of unsigned ones, wide enough not to become int.
template <typename T>
bool integer(uintptr_t which, const void* in, void* inout, size_t count) {
  const auto wrapped = [&](auto combine) {
    return each<T>(in, inout, count, [&](T a, T b) {
      return static_cast<T>(combine(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
    });
  };
  if (which == kSum) return wrapped([](uint64_t a, uint64_t b) { return a + b; });
  if (which == kProd) return wrapped([](uint64_t a, uint64_t b) { return a * b; });
  return ordered<T>(which, in, inout, count) || bitwise<T>(which, in, inout, count) ||
         logical<T>(which, in, inout, count);
}
template <typename T>
bool floating(uintptr_t which, const void* in, void* inout, size_t count) {
  return sums<T>(which, in, inout, count) || ordered<T>(which, in, inout, count);
}
// A value and where it is; of equal values the lower index counts.
template <typename T, typename Index>
bool located(uintptr_t which, const void* in, void* inout, size_t count) {
  struct Pair {
    T value;
    Index index;
  };
  if (which != kMinloc && which != kMaxloc) return false;
  return each<Pair>(in, inout, count, [&](const Pair& a, const Pair& b) {
    if (a.value == b.value) return a.index < b.index ? a : b;
    return (a.value < b.value) == (which == kMinloc) ? a : b;
  });
}

bool nothing(uintptr_t, const void*, void*, size_t) { return false; }

// The library's type of each Kind, if any, and what does a reduction or says that there is none.
struct OfKind {
  std::optional<tutti_type> native;
  bool (*combine)(uintptr_t which, const void* in, void* inout, size_t count);
};
constexpr OfKind kKinds[] = {
#define TUTTI_MPI_KIND(kind, native, ...) {native, __VA_ARGS__},
#include "kinds.inc"
#undef TUTTI_MPI_KIND
};
const OfKind& of_kind(const Type& type) { return kKinds[static_cast<size_t>(type.kind)]; }

MPI_Op add(int commutes) {
  auto* const op = new Op;
  op->commutes = commutes != 0;
  return op;
}

}  // namespace

Op& find(MPI_Op handle) {
  static const Predefined predefined;
  if (!is_predefined(handle)) return *handle;
  Op* const op = predefined.at(number_of(handle));
  if (op == nullptr) fail(MPI_ERR_OP, "it is not a reduction");
  return *op;
}

void expect_reducible(const Op& op, const Type& type) {
  if (op.number == 0 || op.number == kReplace || op.number == kNoOp) return;
  if (of_kind(type).combine(op.number, nullptr, nullptr, 0)) return;
  fail(MPI_ERR_OP, "there is no such reduction of " +
                       (type.name.empty() ? std::string("this type") : type.name));
}

std::optional<NativeOp> native(const Op& op, const Type& type) {
  const std::optional<tutti_type> of = of_kind(type).native;
  if (!of || !op.native) return std::nullopt;
  return NativeOp{*of, *op.native};
}

void apply(Op& op, Type& type, const void* in, void* inout, size_t count) {
  if (op.number == kNoOp) return;
  if (op.number == kReplace) {
    std::unique_ptr<std::byte[]> packed(new std::byte[type.size * count]);
    pack(type, in, type.size * count, packed.get());
    return unpack(type, inout, type.size * count, packed.get());
  }
  if (op.number != 0) {
    of_kind(type).combine(op.number, in, inout, count);
    return;
  }
  MPI_Datatype handle = type.handle();
  auto* source = static_cast<std::byte*>(const_cast<void*>(in));
  auto* target = static_cast<std::byte*>(inout);
  if (op.function_c != nullptr) {
    auto length = static_cast<MPI_Count>(count);
    return op.function_c(source, target, &length, &handle);
  }
  if (op.function_x != nullptr) {
    return op.function_x(source, target, static_cast<MPI_Count>(count), handle, op.context);
  }
  while (count > 0) {
    int length = static_cast<int>(std::min<size_t>(count, INT_MAX));
    op.function(source, target, &length, &handle);
    source += length * type.extent;
    target += length * type.extent;
    count -= static_cast<size_t>(length);
  }
}

}  // namespace tutti_mpi

using namespace tutti_mpi;

TUTTI_MPI_DO(Op_create, (MPI_User_function * function, int commutes, MPI_Op* op),
             (*op = add(commutes))->function = function)
TUTTI_MPI_DO(Op_create_c, (MPI_User_function_c * function, int commutes, MPI_Op* op),
             (*op = add(commutes))->function_c = function)
TUTTI_MPIX_DO(Op_create_x,
              (MPIX_User_function_x * function, MPIX_Destructor_function* destructor, int commutes,
               void* context, MPI_Op* op),
              {
                (*op = add(commutes))->function_x = function;
                (*op)->destructor = destructor;
                (*op)->context = context;
              })
TUTTI_MPI_DO(Op_free, (MPI_Op * op), {
  expect(!is_predefined(*op), MPI_ERR_OP, "it is not a reduction of the program's");
  std::exchange(*op, MPI_OP_NULL)->drop();
})
TUTTI_MPI_DO(Op_commutative, (MPI_Op op, int* commutes), *commutes = find(op).commutes ? 1 : 0)
