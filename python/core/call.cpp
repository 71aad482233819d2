// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "call.hpp"

#include <dlfcn.h>

namespace tutti_core {
namespace {

int signal_has_raised(void* /*context*/) {
  if (is_finalizing()) return 0;
  const nb::gil_scoped_acquire locked;
  return PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0 ? 1 : 0;
}

PyObject* in_place_object = nullptr;

}  // namespace

bool is_finalizing() {
  // Python's stable interface lacks the question; every version has it, by one of these names.
  using Question = int (*)();
  static const auto ask = [] {
    void* const found = dlsym(RTLD_DEFAULT, "Py_IsFinalizing");  // since 3.13
    return reinterpret_cast<Question>(found != nullptr ? found
                                                       : dlsym(RTLD_DEFAULT, "_Py_IsFinalizing"));
  }();
  return ask == nullptr ? !nanobind::is_alive() : ask() != 0;
}

void look_for_signals() { tutti_set_interrupt_check(signal_has_raised, nullptr); }

nb::object exception_of(tutti_status status, const char* operation, int rank) {
  if (PyErr_Occurred() != nullptr) {
    nb::python_error raised;
    return nb::borrow(raised.value());
  }
  const nb::str text(tutti_last_error());
  return nb::module_::import_("tutti_ccl.errors")
      .attr("from_status")(tutti_status_name(status), text, operation, rank);
}

void check(tutti_status status, const char* operation, int rank) {
  if (status == TUTTI_OK && PyErr_Occurred() == nullptr) return;
  const nb::object exception = exception_of(status, operation, rank);
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  throw nb::python_error();
}

Use::Use(Communicator& comm, const char* operation, bool alone) : comm_(comm), alone_(alone) {
  if (comm.handle == nullptr) {
    raise_value(std::string(operation) + ": this communicator has been destroyed");
  }
  if (alone && comm.calling) {
    raise_value(std::string(operation) +
                ": another thread is in a call on this communicator; expected one at a time (use a "
                "communicator for each thread: split)");
  }
  if (alone) comm.calling = true;
  ++comm.uses;
}

Use::~Use() {
  if (alone_) comm_.calling = false;
  --comm_.uses;
}

Call::Block Call::own_block(nb::handle send, const Array& to) {
  expect_blocks(to, "recv");
  const size_t count = to.count() / size();
  if (is_in_place(send)) return {to.at(rank() * count), count};
  const Array& from = reads(send, "send");
  expect_type(from, to);
  expect_count(to, "recv", from.count() * size(), "those of send for each rank");
  return {from.data(), count};
}

void Call::expect_type(const Array& send, const Array& recv) const {
  if (send.type() == recv.type() && send.is_bool() == recv.is_bool()) return;
  raise_type(std::string(operation_) + ": send is " + send.text() + " and recv is " + recv.text() +
             "; expected one type");
}

void Call::expect_count(const Array& array, const char* parameter, size_t count,
                        const char* meaning) const {
  if (array.count() == count) return;
  raise_value(Argument{operation_, parameter}.text() + " is " + array.text() + "; expected " +
              std::to_string(count) + " elements (" + meaning + ")");
}

void Call::expect_blocks(const Array& array, const char* parameter) const {
  if (array.count() % size() == 0) return;
  raise_value(Argument{operation_, parameter}.text() + " is " + array.text() +
              "; expected a number of elements that is a multiple of the " +
              std::to_string(size()) + " ranks");
}

int Call::root(nb::handle given) const {
  const int root = int_of(given, {operation_, "root"});
  if (root >= 0 && root < comm_.size) return root;
  raise_value(std::string(operation_) + ": root is " + std::to_string(root) +
              "; expected a rank from 0 to " + std::to_string(comm_.size - 1));
}

void Call::refuse_in_place(const char* instead) const {
  raise_value(std::string(operation_) + ": IN_PLACE is not possible here; expected " + instead);
}

nb::object in_place() {
  if (in_place_object == nullptr) {
    const nb::object types = nb::module_::import_("tutti_ccl.constants");
    in_place_object = nb::object(types.attr("IN_PLACE")).release().ptr();
  }
  return nb::borrow(in_place_object);
}

bool is_in_place(nb::handle given) { return given.ptr() == in_place_object; }

}  // namespace tutti_core
