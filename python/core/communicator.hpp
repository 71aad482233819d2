// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <tutti/tutti.h>

#include <unordered_set>

namespace tutti_core {

namespace nb = nanobind;

class Request;

// Every field is used under the interpreter lock.
struct Communicator {
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

  tutti_comm_t handle = nullptr;
  int rank = -1;
  int size = 0;
  bool calling = false;  // a thread is in a call that only one may make at a time
  int uses = 0;          // threads that are in any call on it, waits of requests among them
  std::unordered_set<Request*> requests;
};

// The class without its collectives, which add to it.
nb::class_<Communicator> add_communicator(nb::module_& module);

}  // namespace tutti_core
