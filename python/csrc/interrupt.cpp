// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "interrupt.hpp"

#include <pybind11/pybind11.h>
#include <tutti/tutti.h>

#include <utility>

namespace tutti_torch {
namespace {

// The exception of a handler, as PyErr_Fetch gives it.
struct Raised {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
};
thread_local Raised raised;

// No thread may ask for the interpreter that is not there yet, or ends.
bool has_interpreter() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsInitialized() != 0 && Py_IsFinalizing() == 0;
#else
  return Py_IsInitialized() != 0 && _Py_IsFinalizing() == 0;
#endif
}

}  // namespace

bool interrupted() {
  if (raised.type != nullptr) return true;
  if (!has_interpreter()) return false;
  const PyGILState_STATE state = PyGILState_Ensure();
  if (PyErr_CheckSignals() != 0) PyErr_Fetch(&raised.type, &raised.value, &raised.traceback);
  PyGILState_Release(state);
  return raised.type != nullptr;
}

void look_for_signals() {
  tutti_set_interrupt_check([](void*) { return interrupted() ? 1 : 0; }, nullptr);
}

bool unwinds_by_interrupt() {
  if (!has_interpreter()) return false;
  const pybind11::gil_scoped_acquire locked;
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_GetExcInfo(&type, &value, &traceback);
  const bool is = value != nullptr && PyErr_GivenExceptionMatches(value, PyExc_KeyboardInterrupt);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return is;
}

void raise_interrupt() {
  if (raised.type == nullptr) return;
  const pybind11::gil_scoped_acquire locked;
  const Raised mine = std::exchange(raised, Raised{});
  PyErr_Restore(mine.type, mine.value, mine.traceback);
  throw pybind11::error_already_set();
}

}  // namespace tutti_torch
