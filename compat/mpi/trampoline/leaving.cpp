// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The ways in which JAX, the one program that uses MPItrampoline's names, departs from the
// standard. It makes communicators in any thread, but calls on each in one at a time. It looks at
// what functions return, finalises before it frees communicators, and may end without either.
#include <mutex>
#include <vector>

#include "communicator.hpp"

namespace {

struct Made {
  std::mutex mutex;
  std::vector<MPI_Comm> comms;
};
Made& made() {
  static auto& instance = *new Made;  // is used when the process ends
  return instance;
}

__attribute__((constructor)) void begin() {
  tutti_mpi::default_errhandler() = MPI_ERRORS_RETURN;
  tutti_mpi::world.threads_take_turns = true;
}

// Those that are in nobody's hand any more. Peers that wait in one of them get to know.
void free_all() {
  Made& all = made();
  const std::lock_guard lock(all.mutex);
  for (MPI_Comm comm : all.comms) MPI_Comm_free(&comm);
  all.comms.clear();
}

// A process that ends has left, which peers need not take for its death. Without the barrier of
// MPI_Finalize: they may not have come so far.
__attribute__((destructor)) void leave() {
  if (!tutti_mpi::in_use) return;
  free_all();
  tutti_comm_destroy(tutti_mpi::world.service);
  tutti_comm_destroy(tutti_mpi::world.world->inside);
}

}  // namespace

TUTTI_MPI_EXPORT int tutti_mpi_Init_thread(int* argc, char*** argv, int, int* provided) {
  return MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, provided);
}
TUTTI_MPI_EXPORT int tutti_mpi_Is_thread_main(int* flag) {
  *flag = 1;
  return MPI_SUCCESS;
}
TUTTI_MPI_EXPORT int tutti_mpi_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* result) {
  const int code = MPI_Comm_split(comm, color, key, result);
  if (code != MPI_SUCCESS || *result == MPI_COMM_NULL) return code;
  Made& all = made();
  const std::lock_guard lock(all.mutex);
  all.comms.push_back(*result);
  return code;
}
// It may come after MPI_Finalize.
TUTTI_MPI_EXPORT int tutti_mpi_Comm_free(MPI_Comm* comm) {
  Made& all = made();
  {
    const std::lock_guard lock(all.mutex);
    if (std::erase(all.comms, *comm) == 0) {
      *comm = MPI_COMM_NULL;
      return MPI_SUCCESS;
    }
  }
  return MPI_Comm_free(comm);
}
TUTTI_MPI_EXPORT int tutti_mpi_Finalize() {
  free_all();
  return MPI_Finalize();
}
