// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// oneCCL as a contestant of versus.py, through its C++ API. Linked to the CPU-only static library,
// which is faster than the dispatcher behind the C API.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <oneapi/ccl.hpp>
#include <string>
#include <vector>

#include "server.h"

// The static library refers to the hooks of a tracing library that is not shipped with it, and
// tests each for null before use.
extern "C" {
void* __itt_string_handle_create_ptr__3_0 = nullptr;
void* __itt_task_begin_ptr__3_0 = nullptr;
void* __itt_task_end_ptr__3_0 = nullptr;
void* __itt_metadata_add_ptr__3_0 = nullptr;
void* __itt_thread_set_name_ptr__3_0 = nullptr;
void* __itt_event_start_ptr__3_0 = nullptr;
void* __itt_event_end_ptr__3_0 = nullptr;
void* __itt_event_create_ptr__3_0 = nullptr;
void* __itt_domain_create_ptr__3_0 = nullptr;
}

namespace {

std::unique_ptr<ccl::communicator> comm;

void exchange(const operation& o, ccl::datatype type) {
  const int next = (comm->rank() + 1) % comm->size();
  const int previous = (comm->rank() + comm->size() - 1) % comm->size();
  ccl::group_start();
  ccl::event sent = ccl::send(const_cast<void*>(o.send), o.count, type, next, *comm);
  ccl::event received = ccl::recv(o.recv, o.count, type, previous, *comm);
  ccl::group_end();
  sent.wait();
  received.wait();
}

// The forms for uneven blocks, with equal ones.
const char* start_uneven_call(const operation& o, ccl::datatype type) {
  static std::vector<size_t> counts;
  counts.assign(static_cast<size_t>(comm->size()), o.count);
  switch (o.collective) {
    case COLLECTIVE_ALLGATHER:
      ccl::allgatherv(o.send, o.count, o.recv, counts, type, *comm).wait();
      return nullptr;
    case COLLECTIVE_ALLTOALL:
      if (o.in_place) return NOT_OFFERED "Tutti has no alltoallv in place to compare with";
      ccl::alltoallv(o.send, counts, o.recv, counts, type, *comm).wait();
      return nullptr;
    default: return NOT_OFFERED "oneCCL has no such form for uneven blocks";
  }
}

// NULL, or what this library does not offer.
const char* start_call(const operation& o) {
  const auto type = o.type == TYPE_FLOAT32 ? ccl::datatype::float32 : ccl::datatype::bfloat16;
  if (o.uneven != 0) return start_uneven_call(o, type);
  const auto sum = ccl::reduction::sum;
  const void* const send = o.send;
  void* const recv = o.recv;
  const size_t count = o.count;
  switch (o.collective) {
    case COLLECTIVE_ALLREDUCE: ccl::allreduce(send, recv, count, type, sum, *comm).wait(); break;
    case COLLECTIVE_BROADCAST: ccl::broadcast(recv, count, type, 0, *comm).wait(); break;
    case COLLECTIVE_REDUCE: ccl::reduce(send, recv, count, type, sum, 0, *comm).wait(); break;
    case COLLECTIVE_ALLGATHER: ccl::allgather(send, recv, count, type, *comm).wait(); break;
    case COLLECTIVE_REDUCE_SCATTER:
      ccl::reduce_scatter(send, recv, count, type, sum, *comm).wait();
      break;
    case COLLECTIVE_ALLTOALL:
      if (o.in_place) return NOT_OFFERED "Tutti has no alltoall in place to compare with";
      ccl::alltoall(send, recv, count, type, *comm).wait();
      break;
    case COLLECTIVE_GATHER: return NOT_OFFERED "oneCCL has no gather";
    case COLLECTIVE_SCATTER: ccl::scatter(send, recv, count, type, 0, *comm).wait(); break;
    case COLLECTIVE_SENDRECV:
      if (o.in_place) return NOT_OFFERED "Tutti has no sendrecv in place to compare with";
      exchange(o, type);
      break;
    case COLLECTIVE_BARRIER: ccl::barrier(*comm).wait(); break;
    default: return "no such collective";
  }
  return nullptr;
}

const char* call(const operation* o) {
  static std::string text;
  try {
    return start_call(*o);
  } catch (const std::exception& e) {
    text = e.what();
    text = text.substr(0, text.find('\n'));
    return text.c_str();
  }
}

int number_from_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value != nullptr) return std::atoi(value);
  std::fprintf(stderr, "%s is not set: start this through versus.py\n", name);
  std::exit(1);
}

// Rank 0 leaves the address of its key-value service in a file, which the others wait for.
std::shared_ptr<ccl::kvs> meet(int rank, const std::string& path) {
  if (rank == 0) {
    auto kvs = ccl::create_main_kvs();
    const auto address = kvs->get_address();
    std::ofstream(path + ".new", std::ios::binary)
        .write(address.data(), static_cast<std::streamsize>(address.size()));
    std::rename((path + ".new").c_str(), path.c_str());
    return kvs;
  }
  for (;; usleep(10000)) {
    std::ifstream file(path, std::ios::binary);
    ccl::kvs::address_type address;
    if (file.read(address.data(), static_cast<std::streamsize>(address.size())))
      return ccl::create_kvs(address);
  }
}

}  // namespace

int main() {
  pin_to_core();
  const int rank = number_from_environment("PMI_RANK");
  const int ranks = number_from_environment("PMI_SIZE");
  const char* rendezvous = std::getenv("VERSUS_RENDEZVOUS");
  if (rendezvous == nullptr) return 1;
  int status = 1;
  try {
    ccl::init();
    const auto kvs = meet(rank, rendezvous);
    comm = std::make_unique<ccl::communicator>(ccl::create_communicator(ranks, rank, kvs));
    const auto library = ccl::get_library_version();
    const std::string version = std::string("oneCCL ") + library.full;
    const contestant contestant{rank, ranks, version.c_str(), call};
    status = serve(&contestant);
    comm.reset();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
  return status;
}
