// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The program's own MPI, if it has initialised one: a broadcast in MPI_COMM_WORLD. Its functions
// are looked up in the program; nothing is linked. Two families of libraries differ in their
// handles. Open MPI's are addresses of symbols. MPICH and all that keep its binary interface (Intel
// MPI, MVAPICH, Cray) have numbers that this interface fixes.
#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstring>

#include "bootstrap/couriers/courier.hpp"

namespace tutti::couriers {
namespace {

constexpr int kThreadSerialized = 2;  // the same in both families
constexpr unsigned kMpichWorld = 0x44000000;
constexpr unsigned kMpichByte = 0x4c00010d;
constexpr size_t kLongestVersion = 8192;  // Open MPI asks for 256, MPICH for 8192

// The names under which MPI libraries are loaded.
int note_mpi(dl_phdr_info* info, size_t, void* found) {
  const char* slash = std::strrchr(info->dlpi_name, '/');
  const std::string_view name = slash != nullptr ? slash + 1 : info->dlpi_name;
  if (!name.starts_with("libmpi.so") && !name.starts_with("libmpich.so")) return 0;
  *static_cast<std::string*>(found) = info->dlpi_name;
  return 1;
}

// A function or object of the program's MPI; null if there is none.
void* find(const char* symbol) {
  if (void* address = dlsym(RTLD_DEFAULT, symbol)) return address;
  // Loaded for a plug-in alone, as the modules of an interpreter are.
  std::string path;
  if (dl_iterate_phdr(note_mpi, &path) == 0) return nullptr;
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* address = dlsym(library, symbol);
  dlclose(library);  // it was open before
  return address;
}

template <typename Function>
Function* function(const char* name) {
  return reinterpret_cast<Function*>(find(name));
}

bool flag_of(const char* name) {
  auto* ask = function<int(int*)>(name);
  int flag = 0;
  return ask != nullptr && ask(&flag) == 0 && flag != 0;
}

// `Handle` is void* or unsigned.
template <typename Handle>
class Mpi final : public Courier {
 public:
  Mpi(Handle world, Handle byte, int rank) : world_(world), byte_(byte), rank_(rank) {}

  Status begin(const JobPlace& place) {
    int rank = -1;
    int ranks = -1;
    auto* rank_of = function<int(Handle, int*)>("MPI_Comm_rank");
    auto* size_of = function<int(Handle, int*)>("MPI_Comm_size");
    broadcast_ = function<int(void*, int, Handle, int, Handle)>("MPI_Bcast");
    if (rank_of == nullptr || size_of == nullptr || broadcast_ == nullptr ||
        rank_of(world_, &rank) != 0 || size_of(world_, &ranks) != 0) {
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
  static Status check_thread() {
    int level = kThreadSerialized;
    if (auto* query = function<int(int*)>("MPI_Query_thread")) (void)query(&level);
    if (level >= kThreadSerialized || flag_of("MPI_Is_thread_main")) return {};
    return {Code::kInvalidUsage,
            "MPI was initialised for its main thread only: make communicators there, or ask "
            "MPI_Init_thread for MPI_THREAD_SERIALIZED"};
  }

  Handle world_;
  Handle byte_;
  const int rank_;
  int (*broadcast_)(void*, int, Handle, int, Handle) = nullptr;
};

template <typename Handle>
Result<std::unique_ptr<Courier>> make(Handle world, Handle byte, const JobPlace& place) {
  auto made = std::make_unique<Mpi<Handle>>(world, byte, place.rank);
  TUTTI_RETURN_IF_ERROR(made->begin(place));
  return std::unique_ptr<Courier>(std::move(made));
}

}  // namespace

MpiState mpi_state() {
  if (find("MPI_Initialized") == nullptr) return MpiState::kAbsent;
  if (flag_of("MPI_Finalized")) return MpiState::kFinalized;
  return flag_of("MPI_Initialized") ? MpiState::kInitialized : MpiState::kLoaded;
}

Result<std::unique_ptr<Courier>> make_mpi(const JobPlace& place) {
  if (mpi_state() != MpiState::kInitialized) {
    return Status(Code::kInvalidUsage,
                  "CCL_KVS_MODE is \"mpi\", but this program has not called MPI_Init: call it "
                  "before the first communicator is made, or set CCL_KVS_MODE=pmi");
  }
  void* open_mpi_world = find("ompi_mpi_comm_world");
  void* open_mpi_byte = find("ompi_mpi_byte");
  if (open_mpi_world != nullptr && open_mpi_byte != nullptr) {
    return make(open_mpi_world, open_mpi_byte, place);
  }
  std::string version(kLongestVersion, '\0');
  int length = 0;
  auto* ask = function<int(char*, int*)>("MPI_Get_library_version");
  if (ask != nullptr && ask(version.data(), &length) == 0)
    version.resize(std::strlen(version.data()));
  for (const char* kin : {"MPICH", "Intel(R) MPI", "MVAPICH"}) {
    if (version.find(kin) != std::string::npos) return make(kMpichWorld, kMpichByte, place);
  }
  return Status::format(Code::kUnsupported,
                        "the MPI of this program says \"{}\": known are Open MPI and those of the "
                        "binary interface of MPICH; set TUTTI_MEETING_FILE or CCL_KVS_IP_PORT",
                        version.substr(0, version.find('\n')));
}

}  // namespace tutti::couriers
