// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The ways in which JAX, the one program that uses MPItrampoline's names, departs from the
// standard. It makes communicators in any thread, but calls on each in one at a time. It looks at
// what most functions return, finalises before it frees communicators, and may end without either.
#include <mutex>
#include <shared_mutex>
#include <string>

#include "communicator.hpp"
#include "pause.hpp"
#include "request.hpp"

namespace {

// Shared by threads that split the world, until they are back. Is used when the process ends.
std::shared_mutex& splitting() {
  static auto& instance = *new std::shared_mutex;
  return instance;
}

__attribute__((constructor)) void begin() {
  tutti_mpi::default_errhandler() = MPI_ERRORS_RETURN;
  tutti_mpi::world.threads_take_turns = true;
}

// XLA splits the world once for each of its devices here, with the device's rank as key. It takes
// for granted that the communicator has that rank. The rank is another one where a process has
// several devices, or where no launcher has made the processes one world: sums would lack ranks, in
// silence. XLA ignores an error of this function, so the communicator fails, for all of its ranks.
void expect_rank_is_key(MPI_Comm comm, int key) {
  if (comm->rank == key) return;
  const std::string text =
      "JAX has rank " + std::to_string(key) + " in a group of which MPI has " +
      std::to_string(comm->size) + " processes, this as rank " + std::to_string(comm->rank) +
      "; it expects one device for each process, and processes that a launcher such as `tutti run` "
      "has started (docs/jax.md)";
  tutti_mpi::say(text);
  tutti_comm_abort(comm->use(), text.c_str());
}

// A thread of JAX may still split the world when the program ends after an error, and waits for
// peers that do not come. It gets an error first, as they do.
std::unique_lock<std::shared_mutex> end_splits() {
  std::unique_lock alone(splitting(), std::try_to_lock);
  if (alone) return alone;
  tutti_comm_abort(tutti_mpi::world.world->inside, "the program ends while JAX makes a group");
  tutti_comm_abort(tutti_mpi::world.service, "the program ends while JAX makes a group");
  alone.lock();
  return alone;
}

// A process that ends has left, which peers need not take for its death; those that wait in one of
// its communicators get to know. Without the barrier of MPI_Finalize: they may not have come so
// far.
__attribute__((destructor)) void leave() {
  if (!tutti_mpi::in_use) return;
  const auto alone = end_splits();
  tutti_mpi::in_use = false;
  tutti_mpi::close_communicators();
  tutti_comm_destroy(tutti_mpi::world.service);
}

}  // namespace

TUTTI_MPI_EXPORT int tutti_mpi_Init_thread(int* argc, char*** argv, int, int* provided) {
  const int code = MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, provided);
  if (code == MPI_SUCCESS && tutti_mpi::world.world->size == 1) {
    tutti_mpi::say("no launcher has joined this process of JAX with others (docs/jax.md)");
  }
  return code;
}
TUTTI_MPI_EXPORT int tutti_mpi_Is_thread_main(int* flag) {
  *flag = 1;
  return MPI_SUCCESS;
}
TUTTI_MPI_EXPORT int tutti_mpi_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* result) {
  const std::shared_lock in_world(splitting());
  *result = MPI_COMM_NULL;  // XLA goes on with it whatever is returned
  const int code = MPI_Comm_split(comm, color, key, result);
  if (code == MPI_SUCCESS && *result != MPI_COMM_NULL) expect_rank_is_key(*result, key);
  return code;
}
// A call may come after MPI_Finalize, which leaves the objects: a thread of JAX may still use one.
TUTTI_MPI_EXPORT int tutti_mpi_Comm_free(MPI_Comm* comm) {
  if (tutti_mpi::in_use) return MPI_Comm_free(comm);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
// Threads of JAX may be in calls, and go on to others. Each communicator is closed between two of
// them. So a call ends: the peer that it waits for comes, or closes the communicator in its turn. A
// request for which no thread waits might never: its communicator fails.
TUTTI_MPI_EXPORT int tutti_mpi_Finalize() {
  const auto alone = end_splits();
  tutti_mpi::Pause pause;
  while (!tutti_mpi::close_communicators()) {
    tutti_mpi::free_orphans();
    tutti_mpi::end_abandoned();
    pause.once();
  }
  return MPI_Finalize();
}
