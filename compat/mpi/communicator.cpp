// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "communicator.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>

#include "info.hpp"
#include "request.hpp"

namespace {
// Communicators of which the program has a handle, in the order they were made.
std::mutex open_mutex;
std::vector<MPI_Comm> open_ones;

void no_longer_open(MPI_Comm comm) {
  const std::lock_guard lock(open_mutex);
  std::erase(open_ones, comm);
}
}  // namespace

MPI_ABI_Comm::MPI_ABI_Comm() {
  const std::lock_guard lock(open_mutex);
  open_ones.push_back(this);
}

MPI_ABI_Comm::~MPI_ABI_Comm() {
  no_longer_open(this);
  tutti_mpi::drop_errhandler(errhandler);
  if (!tutti_mpi::is_predefined(info)) delete info;
  tutti_comm_destroy(inside);  // an error of it was told by the call that met it
}

void MPI_ABI_Comm::make_self() {
  tutti_mpi::expect(!closed, MPI_ERR_COMM, "it was closed, as the program ends");
  tutti_unique_id id;
  tutti_mpi::check(tutti_get_unique_id(&id));
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  config.name = name.c_str();
  config.global_ranks = world.data();
  tutti_mpi::check(tutti_comm_create(&id, 0, 1, &config, &inside));
}

namespace tutti_mpi {
namespace {

constexpr tutti_type kBytes = TUTTI_UINT8;

// A hash that all processes share which can share memory: of the running kernel and the folder of
// shared memory.
uint64_t host_number() {
  std::string text;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> text;
  struct stat status {};
  if (stat("/dev/shm", &status) == 0) text += std::to_string(status.st_dev);
  return std::hash<std::string>()(text);
}

// The color of this rank among those with equal values: the first rank that has it.
int color_by(Comm& comm, uint64_t value) {
  std::vector<uint64_t> all(static_cast<size_t>(comm.size));
  check(tutti_allgather(&value, all.data(), 1, TUTTI_UINT64, comm.use()));
  return static_cast<int>(std::find(all.begin(), all.end(), value) - all.begin());
}

bool names_shared_memory(MPI_Info info) {
  if (is_predefined(info)) return false;
  const auto found = info->entries.find("mpi_hw_resource_type");
  return found != info->entries.end() && found->second == "mpi_shared_memory";
}

// Only the members call it: the first hands the others an id. Those messages go over the service
// communicator, with the tag that the program gave.
Comm* create_group(Comm& parent, const WorldRanks& ranks, int tag) {
  const int rank = place(ranks, world.world->rank);
  if (rank < 0) return nullptr;
  tutti_unique_id id;
  if (rank == 0) check(tutti_get_unique_id(&id));
  for (size_t other = rank == 0 ? 1 : 0; other < (rank == 0 ? ranks.size() : 1); ++other) {
    tutti_request_t request = nullptr;
    {
      const Turn turn(world.service_mutex);
      check(rank == 0 ? tutti_isend(id.bytes, sizeof(id.bytes), kBytes, ranks[other], tag,
                                    world.service, &request)
                      : tutti_irecv(id.bytes, sizeof(id.bytes), kBytes, ranks[0], tag,
                                    world.service, &request));
    }
    const tutti_status status = tutti_request_wait(request);
    tutti_request_free(request);
    check(status);
  }
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  config.global_ranks = ranks.data();
  tutti_comm_t inside = nullptr;
  check(tutti_comm_create(&id, rank, static_cast<int>(ranks.size()), &config, &inside));
  return &make_comm(parent, inside);
}

Comm& dup(Comm& comm, MPI_Comm handle, MPI_Info info) {
  Comm& copy = *split(comm, 0, comm.rank);
  try {
    copy.attributes.copy_from(Keeper::kComm, comm.attributes, handle);
  } catch (...) {
    copy.drop();
    throw;
  }
  copy.info = info;
  return copy;
}

MPI_Comm handle_or_null(Comm* comm) { return comm != nullptr ? comm->handle() : MPI_COMM_NULL; }

}  // namespace

Comm& find(MPI_Comm handle) {
  if (!is_predefined(handle)) return *handle;
  if (handle == MPI_COMM_WORLD) return *world.world;
  if (handle == MPI_COMM_SELF) return *world.self;
  fail(MPI_ERR_COMM, "it is not a communicator");
}

Comm& make_comm(Comm& parent, tutti_comm_t inside) {
  auto* const comm = new Comm;
  comm->inside = inside;
  check(tutti_comm_rank(inside, &comm->rank));
  check(tutti_comm_size(inside, &comm->size));
  comm->world.resize(static_cast<size_t>(comm->size));
  const int mine = world.world->rank;
  check(tutti_allgather(&mine, comm->world.data(), 1, TUTTI_INT32, inside));
  hold_errhandler(parent.errhandler);
  comm->errhandler = parent.errhandler;
  return *comm;
}

Comm* split(Comm& comm, int color, int key) {
  const Turn turn(comm.mutex);
  tutti_comm_t inside = nullptr;
  check(tutti_comm_split(comm.use(), color == MPI_UNDEFINED ? TUTTI_NO_COLOR : color, key, nullptr,
                         &inside));
  return inside != nullptr ? &make_comm(comm, inside) : nullptr;
}

void free_comm(MPI_Comm* handle) {
  Comm& comm = find(*handle);
  expect(comm.number == 0, MPI_ERR_COMM, "it was there from the start, and stays");
  comm.attributes.clear(Keeper::kComm, *handle);
  no_longer_open(&comm);
  comm.drop();
  *handle = MPI_COMM_NULL;
}

bool close_communicators() {
  const std::lock_guard lock(open_mutex);
  bool all = true;
  for (Comm* comm : open_ones) {
    const std::unique_lock turn(comm->mutex, std::try_to_lock);
    if (!turn || comm->is_shared()) {
      all = all && tutti_comm_state(comm->inside) != TUTTI_OK;
      continue;
    }
    comm->closed = true;
    tutti_comm_destroy(std::exchange(comm->inside, nullptr));
  }
  return all;
}

}  // namespace tutti_mpi

using namespace tutti_mpi;

TUTTI_MPI_ON(comm, Comm_rank, (MPI_Comm comm, int* rank), *rank = find(comm).rank)
TUTTI_MPI_ON(comm, Comm_size, (MPI_Comm comm, int* size), *size = find(comm).size)
TUTTI_MPI_ON(comm, Comm_dup, (MPI_Comm comm, MPI_Comm* copy), {
  Comm& from = find(comm);
  *copy = dup(from, comm, from.info == MPI_INFO_NULL ? MPI_INFO_NULL : copy_of(from.info)).handle();
})
TUTTI_MPI_ON(comm, Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* copy),
             *copy = dup(find(comm), comm, copy_of(info)).handle())
TUTTI_MPI_ON(comm, Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* result), {
  expect(color >= 0 || color == MPI_UNDEFINED, MPI_ERR_ARG, "color is negative");
  *result = handle_or_null(split(find(comm), color, key));
})
TUTTI_MPI_ON(handle, Comm_split_type,
             (MPI_Comm handle, int type, int key, MPI_Info info, MPI_Comm* result), {
               Comm& comm = find(handle);
               const bool known = type == MPI_COMM_TYPE_SHARED || type == MPI_COMM_TYPE_HW_GUIDED ||
                                  type == MPI_COMM_TYPE_HW_UNGUIDED ||
                                  type == MPI_COMM_TYPE_RESOURCE_GUIDED || type == MPI_UNDEFINED;
               expect(known, MPI_ERR_ARG, "split_type is unknown");
               // All ranks take part, with whatever type; what is not known of the hardware divides
               // nothing.
               const int color = color_by(comm, host_number());
               const bool shared = type == MPI_COMM_TYPE_SHARED || names_shared_memory(info);
               *result = handle_or_null(
                   split(comm, shared && type != MPI_UNDEFINED ? color : MPI_UNDEFINED, key));
             })
TUTTI_MPI_ON(comm, Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* result), {
  const WorldRanks& ranks = find(group);
  const int rank = place(ranks, world.world->rank);
  *result = handle_or_null(split(find(comm), rank < 0 ? MPI_UNDEFINED : ranks[0], rank));
})
TUTTI_MPI_ON(comm, Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* result), {
  expect(tag >= 0, MPI_ERR_TAG, "tag is negative");
  *result = handle_or_null(create_group(find(comm), find(group), tag));
})
TUTTI_MPI_ON(*comm, Comm_free, (MPI_Comm * comm), free_comm(comm))
TUTTI_MPI_ON(*comm, Comm_disconnect, (MPI_Comm * comm), free_comm(comm))
TUTTI_MPI_ON(one, Comm_compare, (MPI_Comm one, MPI_Comm other, int* result), {
  const Comm& first = find(one);
  const Comm& second = find(other);
  *result = compare(first.world, second.world);
  if (*result == MPI_IDENT && &first != &second) *result = MPI_CONGRUENT;
})
TUTTI_MPI_ON(comm, Topo_test, (MPI_Comm comm, int* kind), {
  find(comm);
  *kind = MPI_UNDEFINED;
})
TUTTI_MPI_ON(comm, Comm_test_inter, (MPI_Comm comm, int* flag), {
  find(comm);
  *flag = 0;
})
TUTTI_MPI_DO(Comm_get_parent, (MPI_Comm * parent), *parent = MPI_COMM_NULL)
TUTTI_MPI_ON(comm, Comm_set_name, (MPI_Comm comm, const char* name), find(comm).name = name)
TUTTI_MPI_ON(comm, Comm_get_name, (MPI_Comm comm, char* name, int* length), {
  const std::string text = comm == MPI_COMM_NULL ? "MPI_COMM_NULL" : find(comm).name;
  give_text(text, MPI_MAX_OBJECT_NAME, name, length);
})
TUTTI_MPI_ON(handle, Comm_set_info, (MPI_Comm handle, MPI_Info info), {
  Comm& comm = find(handle);
  const MPI_Info copy = copy_of(info);
  if (!is_predefined(comm.info)) delete comm.info;
  comm.info = copy;
})
TUTTI_MPI_ON(comm, Comm_get_info, (MPI_Comm comm, MPI_Info* info), *info = copy_of(find(comm).info))
