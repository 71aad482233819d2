// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Communicators: each is one of the library's, with what MPI adds to it.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "attributes.hpp"
#include "handles.hpp"

namespace tutti_mpi {

// Ranks are named by their number in MPI_COMM_WORLD.
using WorldRanks = std::vector<int>;

}  // namespace tutti_mpi

struct MPI_ABI_Comm final : tutti_mpi::Counted {
  MPI_ABI_Comm();
  ~MPI_ABI_Comm() override;

  [[nodiscard]] MPI_Comm handle() {
    return number != 0 ? reinterpret_cast<MPI_Comm>(number) : this;
  }
  // The library's: that of MPI_COMM_SELF is made when it is first needed.
  tutti_comm_t use() {
    if (inside == nullptr) [[unlikely]]
      make_self();
    return inside;
  }

  tutti_comm_t inside = nullptr;
  bool closed = false;  // at the end, under `mutex`: calls are errors
  int waiting = 0;      // threads that wait for requests of it, where threads take turns
  int rank = 0;
  int size = 1;
  uintptr_t number = 0;  // of a predefined handle; else 0
  tutti_mpi::WorldRanks world;
  std::string name;
  MPI_Errhandler errhandler = MPI_ERRORS_ARE_FATAL;
  MPI_Info info = MPI_INFO_NULL;
  tutti_mpi::Attributes attributes;
  // Calls on it begin one at a time. Held only where several threads make them.
  std::mutex mutex;

 private:
  void make_self();
};

namespace tutti_mpi {

using Comm = MPI_ABI_Comm;

// The objects between MPI_Init and MPI_Finalize.
struct World {
  Ref<Comm> world;
  Ref<Comm> self;
  tutti_comm_t service = nullptr;  // communicator of all ranks, for messages of this library itself
  std::mutex service_mutex;
  bool threads = false;  // several make calls at once
  // But one at a time on each communicator: a blocking call may keep its turn until it is over.
  bool threads_take_turns = false;
};
extern World world;

Comm& find(MPI_Comm comm);
const WorldRanks& find(MPI_Group group);
// Where it is among them; MPI_UNDEFINED, which is negative: nowhere.
int place(const WorldRanks& ranks, int rank);
// MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
int compare(const WorldRanks& one, const WorldRanks& other);
inline void expect_rank(const Comm& comm, int rank) {
  if (rank < 0 || rank >= comm.size) [[unlikely]] {
    fail(MPI_ERR_RANK,
         "rank " + std::to_string(rank) + ": expected 0 to " + std::to_string(comm.size - 1));
  }
}
inline void expect_root(const Comm& comm, int root) {
  if (root < 0 || root >= comm.size) [[unlikely]] {
    fail(MPI_ERR_ROOT,
         "root " + std::to_string(root) + ": expected 0 to " + std::to_string(comm.size - 1));
  }
}
// Takes over `inside`; the ranks are those of the world.
Comm& make_comm(Comm& parent, tutti_comm_t inside);
// Collective: the ranks of one color, by key; null for MPI_UNDEFINED.
Comm* split(Comm& comm, int color, int key);
void free_comm(MPI_Comm* comm);
// At the end: of those that the program has not freed, so that peers see no death when it exits.
// A communicator to which a call of another thread or a request still refers is left, as it might
// be waited for. False if there are such, and they have not failed.
bool close_communicators();
// A communicator or the program refers to it, or no longer does.
void hold_errhandler(MPI_Errhandler errhandler);
void drop_errhandler(MPI_Errhandler errhandler);

// A call on a communicator begins, in one thread at a time.
class Turn {
 public:
  explicit Turn(std::mutex& mutex) : lock_(mutex, std::defer_lock) {
    if (world.threads) [[unlikely]]
      lock_.lock();
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace tutti_mpi

struct MPI_ABI_Group {
  tutti_mpi::WorldRanks ranks;
};
