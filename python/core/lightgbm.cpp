// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The two functions that LightGBM's LGBM_NetworkInitWithFunctions takes, over tutti.h.
//
// LightGBM calls them in the thread that trains, with no context of ours and without the
// interpreter lock. It catches their exceptions at its border, and raises its own error with the
// same text.
#include <nanobind/stl/pair.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "collectives.hpp"

namespace tutti_core {
namespace {

// Adds `bytes` of elements at `from` to those at `to`. LightGBM hands on a reference to it.
using Reducer = void (*)(const char* from, char* to, int element_bytes, int32_t bytes);

// The communicator of this thread's LightGBM, and room that calls use again.
struct Network {
  tutti_comm_t comm = nullptr;
  size_t rank = 0;
  size_t size = 0;
  std::vector<char> received;
  std::vector<size_t> counts, starts, own_counts, own_starts;
};
thread_local Network network;

// An exception of a signal's handler is the program's: it is raised when LightGBM's call has ended.
void raise_later() {
  nb::python_error raised;
  PyObject* const exception = nb::borrow(raised.value()).release().ptr();
  const auto raise = [](void* kept) {
    const nb::object again = nb::steal(static_cast<PyObject*>(kept));
    PyErr_SetObject(again.type().ptr(), again.ptr());
    return -1;
  };
  if (Py_AddPendingCall(raise, exception) != 0) Py_DECREF(exception);
}

int signal_ends_wait(void* /*context*/) {
  if (is_finalizing()) return 0;
  const nb::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() == 0) return 0;
  raise_later();
  return 1;
}

// This thread's network, with the blocks that the call is about.
Network& prepared(const int32_t* starts, const int32_t* lengths, int blocks) {
  if (network.comm == nullptr) {
    throw std::runtime_error("tutti_ccl.lightgbm: this thread has no network; expected init()");
  }
  if (blocks < 0 || static_cast<size_t>(blocks) != network.size) {
    throw std::runtime_error("tutti_ccl.lightgbm: LightGBM has " + std::to_string(blocks) +
                             " blocks; expected one for each of the " +
                             std::to_string(network.size) + " ranks");
  }
  network.starts.assign(starts, starts + blocks);
  network.counts.assign(lengths, lengths + blocks);
  tutti_set_interrupt_check(signal_ends_wait, nullptr);
  return network;
}

void expect_success(tutti_status status) {
  if (status == TUTTI_OK) return;
  throw std::runtime_error(std::string("tutti_ccl.lightgbm: ") + tutti_last_error() + " (" +
                           tutti_status_name(status) + ")");
}

// Leaves the sum of all blocks in the first. The order is that of LightGBM's own sockets, so that
// sums have the same bits. Pairs of the last ranks are added until there is a power of two, then
// halves.
void add_up(char* blocks, size_t ranks, size_t bytes, int element_bytes, Reducer reducer) {
  const size_t groups = std::bit_floor(ranks);
  const size_t singles = groups - (ranks - groups);
  const auto first_of = [&](size_t group) {
    return group < singles ? group : singles + 2 * (group - singles);
  };
  const auto add = [&](size_t to, size_t from) {
    reducer(blocks + from * bytes, blocks + to * bytes, element_bytes, static_cast<int32_t>(bytes));
  };
  for (size_t group = singles; group < groups; ++group) add(first_of(group), first_of(group) + 1);
  for (size_t half = groups / 2; half > 0; half /= 2) {
    for (size_t group = 0; group < half; ++group) add(first_of(group), first_of(group + half));
  }
}

// Elements may be of any size, structures among them: so blocks travel as bytes, and LightGBM's
// function adds them here.
void reduce_scatter_blocks(char* input, int32_t /*input_bytes*/, int element_bytes,
                           const int32_t* starts, const int32_t* lengths, int blocks, char* output,
                           int32_t /*output_bytes*/, const Reducer& reducer) {
  Network& net = prepared(starts, lengths, blocks);
  const size_t bytes = net.counts[net.rank];
  net.received.resize(net.size * bytes);
  net.own_counts.assign(net.size, bytes);
  net.own_starts.resize(net.size);
  for (size_t r = 0; r < net.size; ++r) net.own_starts[r] = r * bytes;
  expect_success(tutti_alltoallv(input, net.counts.data(), net.starts.data(), net.received.data(),
                                 net.own_counts.data(), net.own_starts.data(), TUTTI_UINT8,
                                 net.comm));
  if (bytes == 0) return;
  add_up(net.received.data(), net.size, bytes, element_bytes, reducer);
  std::memcpy(output, net.received.data(), bytes);
}

// LightGBM gives its block at the start of `output` at times, where rank 0's is to be.
void allgather_blocks(char* input, int32_t input_bytes, const int32_t* starts,
                      const int32_t* lengths, int blocks, char* output, int32_t /*output_bytes*/) {
  Network& net = prepared(starts, lengths, blocks);
  char* const own = output + net.starts[net.rank];
  if (input_bytes > 0) std::memmove(own, input, static_cast<size_t>(input_bytes));
  expect_success(
      tutti_allgatherv(own, output, net.counts.data(), net.starts.data(), TUTTI_UINT8, net.comm));
}

// Makes a communicator this thread's network, or none; gives the addresses of the two functions.
// Its caller keeps the communicator.
std::pair<uintptr_t, uintptr_t> use_network(const Communicator* comm) {
  network = comm == nullptr ? Network{} : Network{comm->handle,
                                                  static_cast<size_t>(comm->rank),
                                                  static_cast<size_t>(comm->size),
                                                  {},
                                                  {},
                                                  {},
                                                  {},
                                                  {}};
  return {reinterpret_cast<uintptr_t>(reduce_scatter_blocks),
          reinterpret_cast<uintptr_t>(allgather_blocks)};
}

}  // namespace

void add_lightgbm(nb::module_& module) {
  module.def("_lightgbm_network", use_network, nb::arg("communicator").none());
}

}  // namespace tutti_core
