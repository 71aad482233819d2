// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A call of torch.ops.* from Python spends more time in matching arguments to a schema and in the
// dispatcher than a short collective takes. Where nothing but a CPU kernel would be called in the
// end, these functions call it straight away; else they call the operator.
#include "direct.hpp"

#include <ATen/PythonTorchFunctionTLS.h>
#include <ATen/record_function.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/pybind.h>

#include <array>

#include "ops.hpp"

namespace tutti_torch {
namespace direct {
namespace {

using std::string_view;

PyObject* operators = nullptr;  // a dict, the operators by name; under the interpreter lock

PyObject* set_operators(PyObject*, PyObject* by_name) {
  if (!PyDict_Check(by_name)) {
    PyErr_SetString(PyExc_TypeError, "set_operators: expected a dict");
    return nullptr;
  }
  Py_INCREF(by_name);
  Py_XSETREF(operators, by_name);
  Py_RETURN_NONE;
}

// Arguments as Python passes them to METH_FASTCALL | METH_KEYWORDS.
struct Call {
  PyObject* const* values;
  Py_ssize_t positional;
  PyObject* names;  // of those that follow, or null
};

// Ours in the order of the schema; borrowed, null where nothing was given.
template <size_t N>
using Found = std::array<PyObject*, N>;
template <size_t N>
using Names = std::array<const char*, N>;

// False if the operator itself had better say what is wrong.
template <size_t N>
bool match(const Call& call, const Names<N>& names, Found<N>& found) {
  found = {};
  if (call.positional > static_cast<Py_ssize_t>(N)) return false;
  std::copy_n(call.values, call.positional, found.begin());
  const Py_ssize_t named = call.names == nullptr ? 0 : PyTuple_GET_SIZE(call.names);
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* const name = PyTuple_GET_ITEM(call.names, i);
    size_t place = 0;
    while (place < N && PyUnicode_CompareWithASCIIString(name, names[place]) != 0) ++place;
    if (place == N || found[place] != nullptr) return false;
    found[place] = call.values[call.positional + i];
  }
  return true;
}

// Whether an operator on this tensor would come to its CPU kernel with nothing to do before: it is
// no subclass, nobody traces, compiles, transforms or listens, and no gradient is wanted.
bool is_plain(PyObject* object) {
  if (object == nullptr || !THPVariable_CheckExact(object)) return false;
  if (at::impl::torch_function_mode_enabled() || at::hasCallbacks()) return false;
  const at::Tensor& tensor = THPVariable_Unpack(object);
  const auto local = c10::impl::tls_local_dispatch_key_set();
  constexpr c10::DispatchKeySet kHarmless({c10::DispatchKey::AutogradCPU,
                                           c10::DispatchKey::ADInplaceOrView,
                                           c10::DispatchKey::BackendSelect});
  const auto keys = ((tensor.key_set() | local.included_) - local.excluded_) - kHarmless;
  return keys.highestPriorityTypeId() == c10::DispatchKey::CPU && !tensor.requires_grad();
}

// The text of a str, `otherwise` if it was not given; false if it is something else.
bool is_text(PyObject* object, string_view otherwise, string_view& text) {
  text = otherwise;
  if (object == nullptr) return true;
  if (!PyUnicode_Check(object)) return false;
  Py_ssize_t length = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(object, &length);
  if (bytes == nullptr) {
    PyErr_Clear();
    return false;
  }
  text = {bytes, static_cast<size_t>(length)};
  return true;
}

PyObject* call_operator(const char* name, const Call& call) {
  PyObject* const callable = operators == nullptr ? nullptr : PyDict_GetItemString(operators, name);
  if (callable == nullptr) {
    PyErr_Format(PyExc_RuntimeError, "tutti: there is no operator '%s'; import tutti_ccl.torch",
                 name);
    return nullptr;
  }
  return PyObject_Vectorcall(callable, call.values, static_cast<size_t>(call.positional),
                             call.names);
}

const at::Tensor& tensor_of(PyObject* object) { return THPVariable_Unpack(object); }

// The tensor that `function` returns, which runs without the interpreter lock.
template <typename Function>
PyObject* wrapped(Function function) {
  at::Tensor output;
  {
    const py::gil_scoped_release others_may_run;
    output = function();
  }
  return THPVariable_Wrap(std::move(output));
}

PyObject* all_reduce_(const Call& call) {
  Found<3> found;
  string_view op, group;
  if (!match(call, {"input", "reduce_op", "group_name"}, found) || !is_plain(found[0]) ||
      !is_text(found[1], "sum", op) || !is_text(found[2], "", group)) {
    return call_operator("all_reduce_", call);
  }
  const py::gil_scoped_release others_may_run;
  ops::all_reduce_(tensor_of(found[0]), op, group);
  return nullptr;
}

PyObject* all_reduce(const Call& call) {
  Found<3> found;
  string_view op, group;
  if (!match(call, {"input", "reduce_op", "group_name"}, found) || !is_plain(found[0]) ||
      !is_text(found[1], "sum", op) || !is_text(found[2], "", group)) {
    return call_operator("all_reduce", call);
  }
  return wrapped([&] { return ops::all_reduce(tensor_of(found[0]), op, group); });
}

PyObject* all_gather_into(const Call& call) {
  Found<3> found;
  string_view group;
  if (!match(call, {"output", "input", "group_name"}, found) || !is_plain(found[0]) ||
      !is_plain(found[1]) || !is_text(found[2], "", group)) {
    return call_operator("all_gather_into", call);
  }
  const py::gil_scoped_release others_may_run;
  ops::all_gather_into(tensor_of(found[0]), tensor_of(found[1]), group);
  return nullptr;
}

PyObject* all_gather(const Call& call) {
  Found<2> found;
  string_view group;
  if (!match(call, {"input", "group_name"}, found) || !is_plain(found[0]) ||
      !is_text(found[1], "", group)) {
    return call_operator("all_gather", call);
  }
  return wrapped([&] { return ops::all_gather(tensor_of(found[0]), group); });
}

PyObject* reduce_scatter_into(const Call& call) {
  Found<4> found;
  string_view op, group;
  if (!match(call, {"output", "input", "reduce_op", "group_name"}, found) || !is_plain(found[0]) ||
      !is_plain(found[1]) || !is_text(found[2], "sum", op) || !is_text(found[3], "", group)) {
    return call_operator("reduce_scatter_into", call);
  }
  const py::gil_scoped_release others_may_run;
  ops::reduce_scatter_into(tensor_of(found[0]), tensor_of(found[1]), op, group);
  return nullptr;
}

PyObject* reduce_scatter(const Call& call) {
  Found<3> found;
  string_view op, group;
  if (!match(call, {"input", "reduce_op", "group_name"}, found) || !is_plain(found[0]) ||
      !is_text(found[1], "sum", op) || !is_text(found[2], "", group)) {
    return call_operator("reduce_scatter", call);
  }
  return wrapped([&] { return ops::reduce_scatter(tensor_of(found[0]), op, group); });
}

// Row counts by rank in a list of ints.
struct Splits {
  c10::SmallVector<c10::SymInt, 16> rows;
  ops::SymSplits given;
};

// False if it is something else.
bool are_splits(PyObject* object, Splits& splits) {
  if (object == nullptr || object == Py_None) return true;
  if (!PyList_CheckExact(object)) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(object); ++i) {
    PyObject* const item = PyList_GET_ITEM(object, i);
    if (!PyLong_CheckExact(item)) return false;
    int overflow = 0;
    const int64_t rows = PyLong_AsLongLongAndOverflow(item, &overflow);
    if (overflow != 0) return false;
    splits.rows.emplace_back(rows);
  }
  splits.given = c10::SymIntArrayRef(splits.rows.data(), splits.rows.size());
  return true;
}

PyObject* all_to_all_into(const Call& call) {
  Found<5> found;
  string_view group;
  Splits received, sent;
  if (!match(call, {"output", "input", "output_split_sizes", "input_split_sizes", "group_name"},
             found) ||
      !is_plain(found[0]) || !is_plain(found[1]) || !are_splits(found[2], received) ||
      !are_splits(found[3], sent) || !is_text(found[4], "", group)) {
    return call_operator("all_to_all_into", call);
  }
  const py::gil_scoped_release others_may_run;
  ops::all_to_all_into(tensor_of(found[0]), tensor_of(found[1]), received.given, sent.given, group);
  return nullptr;
}

PyObject* all_to_all(const Call& call) {
  Found<4> found;
  string_view group;
  Splits received, sent;
  if (!match(call, {"input", "output_split_sizes", "input_split_sizes", "group_name"}, found) ||
      !is_plain(found[0]) || !are_splits(found[1], received) || !are_splits(found[2], sent) ||
      !is_text(found[3], "", group)) {
    return call_operator("all_to_all", call);
  }
  return wrapped(
      [&] { return ops::all_to_all(tensor_of(found[0]), received.given, sent.given, group); });
}

// Null without an error means None.
template <PyObject* (*kFunction)(const Call&)>
PyObject* entry(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  HANDLE_TH_ERRORS
  PyObject* const result = kFunction({values, positional, names});
  if (result != nullptr || PyErr_Occurred() != nullptr) return result;
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

template <PyObject* (*kFunction)(const Call&)>
PyMethodDef method(const char* name) {
  const auto function = &entry<kFunction>;
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
          METH_FASTCALL | METH_KEYWORDS, nullptr};
}

}  // namespace
}  // namespace direct

int add_direct_functions(PyObject* module) {
  using namespace direct;
  static std::array methods = {
      method<all_reduce_>("all_reduce_"),
      method<all_reduce>("all_reduce"),
      method<all_gather_into>("all_gather_into"),
      method<all_gather>("all_gather"),
      method<reduce_scatter_into>("reduce_scatter_into"),
      method<reduce_scatter>("reduce_scatter"),
      method<all_to_all_into>("all_to_all_into"),
      method<all_to_all>("all_to_all"),
      PyMethodDef{"set_operators", set_operators, METH_O, nullptr},
      PyMethodDef{},
  };
  return PyModule_AddFunctions(module, methods.data());
}

}  // namespace tutti_torch
