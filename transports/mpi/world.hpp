// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// MPI in this process: who has initialised it, which threads may call it, and communicators of MPI.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "transports/mpi/library.hpp"

namespace tutti::mpi {

// This process's place in MPI_COMM_WORLD.
struct WorldRank {
  int rank = -1;
  int size = 0;
};

// Initialises MPI if nobody has, which waits for all processes of the job; these must be `ranks`
// then. Fails if the program initialised it for fewer threads than ours may be, or has finalised
// it. MPI that was initialised here ends at exit.
Result<WorldRank> start(int ranks);
// Whether MPI can be called.
bool is_running();

// A communicator over MPI has failed. If a peer may be gone, MPI is not finalised at exit: that
// would wait for it.
void note_failure(Code why);

// Held around every call of MPI that is not in start(): where MPI allows one thread at a time, by
// all of ours. Others of the program's are its own affair.
class Turn {
 public:
  enum class If : uint8_t { kFree };
  Turn();
  explicit Turn(If);  // does not wait
  // Whether it is ours; always, unless it was not to be waited for.
  [[nodiscard]] bool is_ours() const { return !needed_ || lock_.owns_lock(); }

 private:
  bool needed_;
  std::unique_lock<std::mutex> lock_;
};

// A communicator of MPI; it goes with the last of its ports.
class Group {
 public:
  // Collective among these ranks of MPI_COMM_WORLD, and waits for them; `tag` as in the table.
  static Result<std::shared_ptr<Group>> open(const std::vector<int>& world_ranks, int tag);
  ~Group();
  Group(const Group&) = delete;

  [[nodiscard]] void* handle() const { return handle_; }
  [[nodiscard]] int highest_tag() const { return highest_tag_; }

 private:
  Group(void* handle, int highest_tag) : handle_(handle), highest_tag_(highest_tag) {}
  void* const handle_;
  const int highest_tag_;
};

// Requests that were under way when their port was closed, and that MPI cannot take back. Each
// keeps its memory until it has ended.
struct Orphans {
  std::shared_ptr<Group> group;
  void* requests;
  std::vector<std::unique_ptr<std::byte[]>> memory;
};
void adopt(Orphans orphans);

}  // namespace tutti::mpi
