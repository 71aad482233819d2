// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The beginning and the end, and what a process is.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unordered_map>
#include <vector>

#include "communicator.hpp"
#include "info.hpp"
#include "request.hpp"

namespace tutti_mpi {

bool in_use = false;
World world;

namespace {

bool was_begun = false;
bool was_ended = false;
int thread_level = MPI_THREAD_SINGLE;
std::thread::id main_thread;

void begin(int wanted) {
  expect(!was_begun, MPI_ERR_OTHER, "MPI was initialised before");
  tutti_comm_t inside = nullptr;
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  config.name = "MPI_COMM_WORLD";
  check(tutti_comm_create_from_env(&config, &inside));
  config.name = "MPI";
  check(tutti_comm_split(inside, 0, 0, &config, &world.service));
  auto* const all = new Comm;
  all->inside = inside;
  check(tutti_comm_rank(inside, &all->rank));
  check(tutti_comm_size(inside, &all->size));
  for (int rank = 0; rank < all->size; ++rank) all->world.push_back(rank);
  all->number = number_of(MPI_COMM_WORLD);
  all->name = "MPI_COMM_WORLD";
  all->errhandler = default_errhandler();
  auto* const self = new Comm;
  self->world = {all->rank};
  self->number = number_of(MPI_COMM_SELF);
  self->name = "MPI_COMM_SELF";
  self->errhandler = default_errhandler();
  world.world = Ref(*all);
  world.self = Ref(*self);
  all->drop();
  self->drop();
  thread_level = wanted;
  world.threads = wanted == MPI_THREAD_MULTIPLE;
  main_thread = std::this_thread::get_id();
  was_begun = true;
  in_use = true;
}

// Whoever is the last to call it knows that all others have come so far, unless some have died.
void end() {
  world.self->attributes.clear(Keeper::kComm, MPI_COMM_SELF);
  world.world->attributes.clear(Keeper::kComm, MPI_COMM_WORLD);
  (void)tutti_barrier(world.service);
  end_orphans();
  close_communicators();
  in_use = false;
  was_ended = true;
  world.world = {};
  world.self = {};
  tutti_comm_destroy(std::exchange(world.service, nullptr));
}

}  // namespace

void expect_in_use() {
  if (was_ended) fail(MPI_ERR_OTHER, "called after MPI_Finalize");
  fail(MPI_ERR_OTHER, "called before MPI_Init");
}

// ---- handles as ints: the small numbers as they are, others in the order they were asked for

namespace {
std::mutex numbers_mutex;
std::vector<void*> numbered;
std::unordered_map<void*, int> numbers;
}  // namespace

int int_of(const void* handle) {
  if (is_predefined(handle)) return static_cast<int>(number_of(handle));
  const std::lock_guard lock(numbers_mutex);
  const auto [found, fresh] = numbers.try_emplace(
      const_cast<void*>(handle), static_cast<int>(kFirstAddress + numbered.size()));
  if (fresh) numbered.push_back(const_cast<void*>(handle));
  return found->second;
}
void* handle_of(int number) {
  if (number < static_cast<int>(kFirstAddress)) {
    return reinterpret_cast<void*>(static_cast<uintptr_t>(number));
  }
  const std::lock_guard lock(numbers_mutex);
  const size_t index = static_cast<size_t>(number) - kFirstAddress;
  return index < numbered.size() ? numbered[index] : nullptr;
}

}  // namespace tutti_mpi

using namespace tutti_mpi;

TUTTI_MPI(Init, (int*, char***)) {
  return enter_anytime(TUTTI_MPI_NAME, MPI_COMM_NULL, [] { begin(MPI_THREAD_SINGLE); });
}
TUTTI_MPI(Init_thread, (int*, char***, int wanted, int* provided)) {
  return enter_anytime(TUTTI_MPI_NAME, MPI_COMM_NULL, [&] {
    begin(wanted);
    if (provided != nullptr) *provided = thread_level;
  });
}
TUTTI_MPI_DO(Finalize, (void), end())
TUTTI_MPI_ANYTIME(Initialized, (int* flag), *flag = was_begun ? 1 : 0)
TUTTI_MPI_ANYTIME(Finalized, (int* flag), *flag = was_ended ? 1 : 0)
TUTTI_MPI_DO(Query_thread, (int* provided), *provided = thread_level)
// Any thread may make calls of which only the main one could elsewhere.
TUTTI_MPI_DO(Is_thread_main, (int* flag), *flag = std::this_thread::get_id() == main_thread ? 1 : 0)
TUTTI_MPI(Abort, (MPI_Comm, int code)) {
  const std::string rank = in_use ? "rank " + std::to_string(world.world->rank) + " " : "";
  const std::string text = rank + "called MPI_Abort(" + std::to_string(code) + ")";
  say(text);
  if (in_use) tutti_comm_abort(world.world->inside, text.c_str());
  std::fflush(nullptr);
  std::_Exit(code);
}

TUTTI_MPI_DEFINE(double, Wtime, (void)) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}
TUTTI_MPI_DEFINE(double, Wtick, (void)) { return 1e-9; }

TUTTI_MPI_ANYTIME(Get_processor_name, (char* name, int* length), {
  char host[MPI_MAX_PROCESSOR_NAME] = "";
  (void)gethostname(host, sizeof(host) - 1);
  give_text(host, MPI_MAX_PROCESSOR_NAME, name, length);
})
TUTTI_MPI_ANYTIME(Get_version, (int* version, int* subversion), {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
})
TUTTI_MPI_ANYTIME(Get_library_version, (char* version, int* length), {
  give_text(std::string("Tutti ") + tutti_version_string() + ", a subset of MPI 5.0",
            MPI_MAX_LIBRARY_VERSION_STRING, version, length);
})
TUTTI_MPI_ANYTIME(Abi_get_version, (int* version, int* subversion), {
  *version = MPI_ABI_VERSION;
  *subversion = MPI_ABI_SUBVERSION;
})
TUTTI_MPI(Pcontrol, (int, ...)) { return MPI_SUCCESS; }

TUTTI_MPI_DO(Alloc_mem, (MPI_Aint size, MPI_Info, void* base), {
  expect(size >= 0, MPI_ERR_ARG, "size is negative");
  void* memory = nullptr;
  if (posix_memalign(&memory, 64, static_cast<size_t>(size) + 1) != 0) throw std::bad_alloc();
  *static_cast<void**>(base) = memory;
})
TUTTI_MPI_ANYTIME(Free_mem, (void* base), std::free(base))
TUTTI_MPI_ANYTIME(Get_address, (const void* location, MPI_Aint* address),
                  *address = reinterpret_cast<MPI_Aint>(location))
TUTTI_MPI_DEFINE(MPI_Aint, Aint_add, (MPI_Aint base, MPI_Aint disp)) { return base + disp; }
TUTTI_MPI_DEFINE(MPI_Aint, Aint_diff, (MPI_Aint one, MPI_Aint other)) { return one - other; }

#define TUTTI_MPI_INTS(name, type)                                  \
  TUTTI_MPI(name##_toint, (type handle)) { return int_of(handle); } \
  TUTTI_MPI_DEFINE(type, name##_fromint, (int number)) {            \
    return static_cast<type>(handle_of(number));                    \
  }
TUTTI_MPI_INTS(Comm, MPI_Comm)
TUTTI_MPI_INTS(Errhandler, MPI_Errhandler)
TUTTI_MPI_INTS(File, MPI_File)
TUTTI_MPI_INTS(Group, MPI_Group)
TUTTI_MPI_INTS(Info, MPI_Info)
TUTTI_MPI_INTS(Message, MPI_Message)
TUTTI_MPI_INTS(Op, MPI_Op)
TUTTI_MPI_INTS(Request, MPI_Request)
TUTTI_MPI_INTS(Session, MPI_Session)
TUTTI_MPI_INTS(Type, MPI_Datatype)
TUTTI_MPI_INTS(Win, MPI_Win)
