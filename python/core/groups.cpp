// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "call.hpp"
#include "request.hpp"

namespace tutti_core {
namespace {

thread_local int depth = 0;
// The objects that the calls of the group use: they stay until the calls have taken place.
thread_local std::vector<std::array<Array, 2>> kept;
thread_local std::vector<nb::object> requests;

// group(): what its body calls begins at its end.
struct Group {};

void begin() {
  check(tutti_group_start(), "group", -1);
  ++depth;
}

// The recorded calls take place in any case. The body's own exception goes before an error of that.
void end(bool raised) {
  const auto status = without_lock([] { return tutti_group_end(); });
  if (--depth == 0) {
    kept.clear();
    requests.clear();
  }
  if (!raised || PyErr_Occurred() != nullptr) check(status, "group", -1);
}

}  // namespace

void Call::keep_in_group() {
  if (depth > 0) kept.push_back(std::move(arrays_));
}

nb::object Call::keep_in_request(tutti_request_t request) {
  nb::object made = Request::make(comm_, request, operation_, std::move(arrays_));
  if (depth > 0) requests.push_back(made);
  return made;
}

bool is_in_group() { return depth > 0; }

void add_groups(nb::module_& module) {
  module.def("in_group", is_in_group);
  nb::class_<Group>(module, "Group")
      .def(nb::init<>())
      .def("__init__",
           [](Group*, const nb::args&, const nb::kwargs&) {
             raise_type("group(): expected no arguments, and some were given");
           })
      .def("__enter__",
           [](nb::object self) {
             begin();
             return self;
           })
      .def(
          "__exit__", [](Group&, nb::handle type, nb::handle, nb::handle) { end(!type.is_none()); },
          nb::arg().none(), nb::arg().none(), nb::arg().none());
}

}  // namespace tutti_core
