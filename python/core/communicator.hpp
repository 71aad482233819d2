// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <tutti/tutti.h>

#include <array>
#include <unordered_set>
#include <vector>

#include "array.hpp"

namespace tutti_core {

class Request;

// A call in progress whose Request has been dropped.
struct Orphan {
  tutti_request_t request;
  std::array<Array, 2> arrays;
};

// Every field is used under the interpreter lock.
struct Communicator {
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  // Cannot wait for long: what is in progress is aborted.
  ~Communicator();
  // Frees those orphans that are complete.
  void sweep();

  tutti_comm_t handle = nullptr;
  int rank = -1;
  int size = 0;
  bool calling = false;  // a thread is in a call that only one may make at a time
  int uses = 0;          // threads that are in any call on it, waits of requests among them
  std::unordered_set<Request*> requests;
  std::vector<Orphan> orphans;
};

// The class without its collectives, which add to it.
nb::class_<Communicator> add_communicator(nb::module_& module);

}  // namespace tutti_core
