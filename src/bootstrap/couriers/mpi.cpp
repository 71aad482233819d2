// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The program's own MPI, if it has initialised one: a broadcast in MPI_COMM_WORLD. Its functions
// are looked up in the program; nothing is linked.
#include <array>

#include "bootstrap/couriers/courier.hpp"
#include "core/loaded_mpi.hpp"

namespace tutti::couriers {
namespace {

constexpr int kThreadSerialized = 2;  // equal in both families of MPI
constexpr unsigned kMpichWorld = 0x44000000;
constexpr unsigned kMpichByte = 0x4c00010d;

bool flag_of(const OpenedLibrary& mpi, const char* name) {
  int (*ask)(int*) = nullptr;
  int flag = 0;
  return mpi.find(name, ask) && ask(&flag) == 0 && flag != 0;
}

// `Handle` is void* or unsigned.
template <typename Handle>
class Mpi final : public Courier {
 public:
  Mpi(OpenedLibrary mpi, Handle world, Handle byte, int rank)
      : mpi_(std::move(mpi)), world_(world), byte_(byte), rank_(rank) {}

  Status begin(const JobPlace& place) {
    int rank = -1;
    int ranks = -1;
    int (*rank_of)(Handle, int*) = nullptr;
    int (*size_of)(Handle, int*) = nullptr;
    if (!mpi_.find("MPI_Comm_rank", rank_of) || !mpi_.find("MPI_Comm_size", size_of) ||
        !mpi_.find("MPI_Bcast", broadcast_) || rank_of(world_, &rank) != 0 ||
        size_of(world_, &ranks) != 0) {
      return {Code::kUnsupported, "the program's MPI library lacks MPI_Comm_rank or MPI_Bcast"};
    }
    if (rank == place.rank && ranks == place.ranks) return {};
    return Status::format(Code::kInvalidUsage,
                          "MPI_COMM_WORLD has this process as rank {} of {}, but {} as rank {} of "
                          "{}: expected the same job",
                          rank, ranks, place.launcher, place.rank, place.ranks);
  }

  Result<std::string> share(std::string_view mine, int64_t) override {
    if (mpi_state() != MpiState::kInitialized) {
      return Status(Code::kInvalidUsage,
                    "MPI_Finalize was called: make communicators before it, or set "
                    "TUTTI_MEETING_FILE or CCL_KVS_IP_PORT");
    }
    TUTTI_RETURN_IF_ERROR(check_thread());
    std::array<char, kLongestText + 1> text{};
    if (rank_ == 0) mine.copy(text.data(), kLongestText);
    const int error = broadcast_(text.data(), static_cast<int>(text.size()), byte_, 0, world_);
    if (error != 0) return Status::format(Code::kSystem, "MPI_Bcast gave error {}", error);
    return std::string(text.data());
  }

 private:
  [[nodiscard]] Status check_thread() const {
    int level = kThreadSerialized;
    int (*query)(int*) = nullptr;
    if (mpi_.find("MPI_Query_thread", query)) (void)query(&level);
    if (level >= kThreadSerialized || flag_of(mpi_, "MPI_Is_thread_main")) return {};
    return {Code::kInvalidUsage,
            "MPI was initialised for its main thread only: make communicators there, or ask "
            "MPI_Init_thread for MPI_THREAD_SERIALIZED"};
  }

  const OpenedLibrary mpi_;
  Handle world_;
  Handle byte_;
  const int rank_;
  int (*broadcast_)(void*, int, Handle, int, Handle) = nullptr;
};

template <typename Handle>
Result<std::unique_ptr<Courier>> make(OpenedLibrary mpi, Handle world, Handle byte,
                                      const JobPlace& place) {
  auto made = std::make_unique<Mpi<Handle>>(std::move(mpi), world, byte, place.rank);
  TUTTI_RETURN_IF_ERROR(made->begin(place));
  return std::unique_ptr<Courier>(std::move(made));
}

}  // namespace

MpiState mpi_state() {
  const std::optional<OpenedLibrary> mpi = loaded_mpi();
  if (!mpi) return MpiState::kAbsent;
  if (flag_of(*mpi, "MPI_Finalized")) return MpiState::kFinalized;
  return flag_of(*mpi, "MPI_Initialized") ? MpiState::kInitialized : MpiState::kLoaded;
}

Result<std::unique_ptr<Courier>> make_mpi(const JobPlace& place) {
  if (mpi_state() != MpiState::kInitialized) {
    return Status(Code::kInvalidUsage,
                  "CCL_KVS_MODE is \"mpi\", but this program has not called MPI_Init: call it "
                  "before the first communicator is made, or set CCL_KVS_MODE=pmi");
  }
  const OpenedLibrary mpi = *loaded_mpi();
  const Result<MpiFamily> family = family_of_mpi(mpi);
  if (!family.ok()) {
    return Status::format(Code::kUnsupported, "{}; set TUTTI_MEETING_FILE or CCL_KVS_IP_PORT",
                          family.status().message());
  }
  if (*family == MpiFamily::kMpich) return make(mpi, kMpichWorld, kMpichByte, place);
  void* world = nullptr;
  void* byte = nullptr;
  mpi.find("ompi_mpi_comm_world", world);
  mpi.find("ompi_mpi_byte", byte);
  return make(mpi, world, byte, place);
}

}  // namespace tutti::couriers
