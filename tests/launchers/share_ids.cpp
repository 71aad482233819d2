// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A process of a job under a real launcher: `share_ids [MPI_LIBRARY]` passes texts from rank 0 to
// all, the way that ids of a job on several hosts go. With an MPI library it does so before, after
// and without MPI_Init. It tells the library that it is alone on its host, since the launchers of
// the tests start all processes on one.
#include <dlfcn.h>
#include <fmt/format.h>

#include "bootstrap/couriers/courier.hpp"
#include "core/wait.hpp"

namespace {

using namespace tutti;

std::optional<std::string> as_if_alone(const std::string& name) {
  const Getter real = process_environment();
  const auto value = real(name);
  if (!value) return value;
  for (const char* rank : {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID",
                           "SLURM_NODEID", "LOCAL_RANK"}) {
    if (name == rank) return "0";
  }
  for (const char* ranks : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE",
                            "SLURM_STEP_TASKS_PER_NODE", "LOCAL_WORLD_SIZE"}) {
    if (name == ranks) return "1";
  }
  return value;
}

// What rank 0 gives in a round: as long as an id, and another each time.
std::string text_of_round(int round) { return fmt::format("{:0>256}", round * 7919); }

bool share(const JobPlace& place, int rounds) {
  static int round = 0;
  for (const int end = round + rounds; round < end; ++round) {
    const std::string mine = place.rank == 0 ? text_of_round(round) : "not of rank 0";
    const auto got = couriers::share(place, mine, now_ms() + 20000);
    if (!got.ok() || *got != text_of_round(round)) {
      fmt::print(stderr, "rank {} round {}: {}{}\n", place.rank, round, got.status().message(),
                 got.ok() ? *got : "");
      return false;
    }
  }
  return true;
}

bool share_around_mpi(const JobPlace& place, const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    fmt::print(stderr, "{}\n", dlerror());
    return false;
  }
  auto* init = reinterpret_cast<int (*)(int*, char***)>(dlsym(library, "MPI_Init"));
  auto* finalize = reinterpret_cast<int (*)()>(dlsym(library, "MPI_Finalize"));
  const bool before = place.route.kind == Route::Kind::kMpi || share(place, 2);
  if (!before || init(nullptr, nullptr) != 0 || !share(place, 2)) return false;
  return finalize() == 0;
}

int run(const char* library) {
  const auto place = detect_job(as_if_alone);
  if (!place.ok()) {
    fmt::print(stderr, "{}\n", place.status().message());
    return 1;
  }
  if (library != nullptr ? !share_around_mpi(*place, library) : !share(*place, 3)) return 1;
  fmt::print("rank {} of {}\n", place->rank, place->ranks);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run(argc > 1 ? argv[1] : nullptr); }
