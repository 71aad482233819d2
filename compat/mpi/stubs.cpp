// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The functions that the library lacks. Every name of the standard's has a weak definition here,
// which says so once and returns MPI_ERR_UNSUPPORTED_OPERATION. A definition elsewhere takes its
// place.
#include <atomic>
#include <type_traits>

#include "api.hpp"

namespace tutti_mpi {
namespace {

template <typename Result>
Result lack(const char* name, std::atomic<bool>& said) {
  if (!said.exchange(true)) {
    say(std::string(name) + " is not in this library's subset of MPI: see docs/mpi.md");
  }
  if constexpr (std::is_same_v<Result, int>) {
    return MPI_ERR_UNSUPPORTED_OPERATION;
  } else {
    return Result();
  }
}

}  // namespace
}  // namespace tutti_mpi

#define TUTTI_MPI_LACK(result, name, parameters)                                      \
  extern "C" __attribute__((weak, visibility("default"))) result P##name parameters { \
    static constinit std::atomic<bool> said{false};                                   \
    return tutti_mpi::lack<result>(#name, said);                                      \
  }                                                                                   \
  extern "C" __attribute__((weak, visibility("default"), alias("P" #name))) result name parameters;

#define TUTTI_MPI_FUNCTION TUTTI_MPI_LACK
#include <mpi_functions.h>
#define TUTTI_MPI_COUNTED(name, parameters) TUTTI_MPI_LACK(int, name, parameters)
#define TUTTI_N int
#define TUTTI_D int
#define TUTTI_A MPI_Aint
#include <mpi_counted_functions.h>
#undef TUTTI_MPI_COUNTED
#undef TUTTI_N
#undef TUTTI_D
#undef TUTTI_A
#define TUTTI_MPI_COUNTED(name, parameters) TUTTI_MPI_LACK(int, name##_c, parameters)
#define TUTTI_N MPI_Count
#define TUTTI_D MPI_Aint
#define TUTTI_A MPI_Count
#include <mpi_counted_functions.h>
