// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reductions: MPI's own and the program's.
#pragma once

#include <optional>

#include "datatype.hpp"

struct MPI_ABI_Op final : tutti_mpi::Counted {
  ~MPI_ABI_Op() override {
    if (destructor != nullptr) destructor(context);
  }

  uintptr_t number = 0;  // of a predefined handle; else 0
  std::optional<tutti_op> native;
  bool commutes = true;
  MPI_User_function* function = nullptr;
  MPI_User_function_c* function_c = nullptr;
  MPIX_User_function_x* function_x = nullptr;
  MPIX_Destructor_function* destructor = nullptr;
  void* context = nullptr;
};

namespace tutti_mpi {

using Op = MPI_ABI_Op;

Op& find(MPI_Op op);
// The operation as one of the library's own, if it is.
struct NativeOp {
  tutti_type type;
  tutti_op op;
};
std::optional<NativeOp> native(const Op& op, const Type& type);
// Fails if the elements cannot be reduced so.
void expect_reducible(const Op& op, const Type& type);
// inout[i] = in[i] (op) inout[i], of elements as they lie in memory.
void apply(Op& op, Type& type, const void* in, void* inout, size_t count);

}  // namespace tutti_mpi
