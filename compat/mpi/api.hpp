// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The border to the program: how a function of MPI is defined, and how it ends.
//
// A function is defined once and has two names, MPI_X and PMPI_X of the standard's binary
// interface. MPItrampoline's library is linked from the same objects, and gives them
// the names MPIABI_X. Handles and MPI_Status are alike in both, and MPItrampoline reads the
// values of constants from the library that it opens. stubs.cpp names what is lacking. Default
// error handler: default_errhandler().
#pragma once

#include <mpi.h>
#include <tutti/tutti.h>

#include <new>
#include <string>
#include <utility>

#define TUTTI_MPI_EXPORT extern "C" __attribute__((visibility("default")))
#define TUTTI_MPI_ALIAS(name) \
  extern "C" __attribute__((visibility("default"), alias("PMPI_" #name)))
#define TUTTI_MPI_DEFINE(result, name, parameters)    \
  TUTTI_MPI_EXPORT result PMPI_##name parameters;     \
  TUTTI_MPI_ALIAS(name) result MPI_##name parameters; \
  result PMPI_##name parameters
// TUTTI_MPI(Name, (parameters)) { body }
#define TUTTI_MPI(name, parameters) TUTTI_MPI_DEFINE(int, name, parameters)
// A function whose body may fail; `comm` is the communicator whose error handler is then called.
#define TUTTI_MPI_ON(comm, name, parameters, ...)                        \
  TUTTI_MPI(name, parameters) {                                          \
    return tutti_mpi::enter(TUTTI_MPI_NAME, comm, [&] { __VA_ARGS__; }); \
  }
#define TUTTI_MPI_DO(name, parameters, ...) \
  TUTTI_MPI_ON(MPI_COMM_NULL, name, parameters, __VA_ARGS__)
// A function that cannot fail, and may be called before MPI_Init and after MPI_Finalize.
#define TUTTI_MPI_ANYTIME(name, parameters, ...) \
  TUTTI_MPI(name, parameters) {                  \
    __VA_ARGS__;                                 \
    return MPI_SUCCESS;                          \
  }
// A function that is not the standard's, and whose body may fail.
#define TUTTI_MPIX_DO(name, parameters, ...)                                                    \
  TUTTI_MPI_EXPORT int PMPIX_##name parameters;                                                 \
  extern "C"                                                                                    \
      __attribute__((visibility("default"), alias("PMPIX_" #name))) int MPIX_##name parameters; \
  int PMPIX_##name parameters {                                                                 \
    return tutti_mpi::enter(TUTTI_MPI_NAME, MPI_COMM_NULL, [&] { __VA_ARGS__; });               \
  }
// The name of the current function, for enter().
#define TUTTI_MPI_NAME (__func__ + 1)

namespace tutti_mpi {

// How a function of MPI fails; thrown inside, and never out of it.
struct Failure {
  int code;
  std::string text;
};
[[noreturn]] void fail(int code, std::string text);
inline void expect(bool fine, int code, const char* text) {
  if (!fine) [[unlikely]]
    fail(code, text);
}
inline void expect_argument(const void* pointer, const char* name) {
  if (pointer == nullptr) [[unlikely]]
    fail(MPI_ERR_ARG, std::string(name) + " is NULL");
}
int class_of(tutti_status status);
// Fails with the library's text unless it is TUTTI_OK.
inline void check(tutti_status status) {
  if (status != TUTTI_OK) [[unlikely]]
    fail(class_of(status), tutti_last_error());
}

// Whether MPI is in use in this process, and fails if not.
extern bool in_use;
void expect_in_use();
// Calls the error handler of `comm`, or of the world if it is none; returns the code.
int report(const char* function, MPI_Comm comm, int code, const std::string& text) noexcept;
// Ends the job with a line on stderr.
[[noreturn]] void die(const char* function, const std::string& text, int code) noexcept;
// The handler of communicators that were given none: fatal by the standard; the first set before
// MPI_Init.
MPI_Errhandler& default_errhandler();
// The largest error code, of the program's as well.
int last_used_code();
// Copies as much of it as there is room for, with a 0 at its end.
void give_text(const std::string& text, size_t room, char* to, int* length);
// A line on stderr, of which each begins with the same word.
void say(const std::string& text) noexcept;

// Runs a function's body, which may fail; `comm` is whose error handler is called.
template <typename Body>
int enter_anytime(const char* function, MPI_Comm comm, Body&& body) noexcept {
  try {
    body();
    return MPI_SUCCESS;
  } catch (const Failure& failure) {
    return report(function, comm, failure.code, failure.text);
  } catch (const std::bad_alloc&) {
    return report(function, comm, MPI_ERR_NO_MEM, "there is no memory");
  } catch (const std::exception& error) {
    return report(function, comm, MPI_ERR_INTERN, error.what());
  }
}
// Runs a body that may only run between MPI_Init and MPI_Finalize.
template <typename Body>
int enter(const char* function, MPI_Comm comm, Body&& body) noexcept {
  return enter_anytime(function, comm, [&] {
    if (!in_use) [[unlikely]]
      expect_in_use();
    body();
  });
}

}  // namespace tutti_mpi
