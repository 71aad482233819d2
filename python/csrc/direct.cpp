// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A call of torch.ops.* from Python spends more time in matching arguments to a schema and in the
// dispatcher than a short collective takes. These functions call the CPU kernel straight away if
// nothing else would be called in the end. Else they call the operator.
#include "direct.hpp"

#include <ATen/PythonTorchFunctionTLS.h>
#include <ATen/record_function.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/pybind.h>

#include <array>
#include <type_traits>

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

// Whether an operator on this tensor would come to its CPU kernel with nothing to do before. The
// tensor is then no subclass, nobody traces, compiles, transforms or listens, and no gradient is
// wanted.
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

// Parameters of an operator. read() is false of what the operator itself has to look at.
struct Plain {
  const char* name;
  const at::Tensor* tensor = nullptr;

  bool read(PyObject* given) {
    if (!is_plain(given)) return false;
    tensor = &THPVariable_Unpack(given);
    return true;
  }
  const at::Tensor& value() const { return *tensor; }
};

struct Text {
  const char* name;
  string_view text = "";  // unless another is given

  bool read(PyObject* given) {
    if (given == nullptr) return true;
    if (!PyUnicode_Check(given)) return false;
    Py_ssize_t length = 0;
    const char* const bytes = PyUnicode_AsUTF8AndSize(given, &length);
    if (bytes == nullptr) {
      PyErr_Clear();
      return false;
    }
    text = {bytes, static_cast<size_t>(length)};
    return true;
  }
  string_view value() const { return text; }
};

// Row counts by rank, as a list of ints or None.
struct Splits {
  const char* name;
  c10::SmallVector<c10::SymInt, 16> rows = {};
  bool given = false;

  bool read(PyObject* list) {
    if (list == nullptr || list == Py_None) return true;
    if (!PyList_CheckExact(list)) return false;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
      PyObject* const item = PyList_GET_ITEM(list, i);
      if (!PyLong_CheckExact(item)) return false;
      int overflow = 0;
      const int64_t count = PyLong_AsLongLongAndOverflow(item, &overflow);
      if (overflow != 0) return false;
      rows.emplace_back(count);
    }
    given = true;
    return true;
  }
  ops::SymSplits value() const {
    return given ? ops::SymSplits(c10::SymIntArrayRef(rows.data(), rows.size())) : ops::SymSplits();
  }
};

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

// Calls the kernel without the interpreter lock, or the operator. Null without an error means None.
template <typename Kernel, typename... Parameters>
PyObject* run(const char* name, const Call& call, Kernel kernel, Parameters... parameters) {
  Found<sizeof...(Parameters)> found;
  size_t next = 0;
  if (!match(call, {parameters.name...}, found) || !(parameters.read(found[next++]) && ...)) {
    return call_operator(name, call);
  }
  if constexpr (std::is_void_v<decltype(kernel(parameters.value()...))>) {
    const py::gil_scoped_release others_may_run;
    kernel(parameters.value()...);
    return nullptr;
  } else {
    at::Tensor output;
    {
      const py::gil_scoped_release others_may_run;
      output = kernel(parameters.value()...);
    }
    return THPVariable_Wrap(std::move(output));
  }
}

PyObject* all_reduce_(const Call& call) {
  return run("all_reduce_", call, ops::all_reduce_, Plain{"input"}, Text{"reduce_op", "sum"},
             Text{"group_name"});
}

PyObject* all_reduce(const Call& call) {
  return run("all_reduce", call, ops::all_reduce, Plain{"input"}, Text{"reduce_op", "sum"},
             Text{"group_name"});
}

PyObject* all_gather_into(const Call& call) {
  return run("all_gather_into", call, ops::all_gather_into, Plain{"output"}, Plain{"input"},
             Text{"group_name"});
}

PyObject* all_gather(const Call& call) {
  return run("all_gather", call, ops::all_gather, Plain{"input"}, Text{"group_name"});
}

PyObject* reduce_scatter_into(const Call& call) {
  return run("reduce_scatter_into", call, ops::reduce_scatter_into, Plain{"output"}, Plain{"input"},
             Text{"reduce_op", "sum"}, Text{"group_name"});
}

PyObject* reduce_scatter(const Call& call) {
  return run("reduce_scatter", call, ops::reduce_scatter, Plain{"input"}, Text{"reduce_op", "sum"},
             Text{"group_name"});
}

PyObject* all_to_all_into(const Call& call) {
  return run("all_to_all_into", call, ops::all_to_all_into, Plain{"output"}, Plain{"input"},
             Splits{"output_split_sizes"}, Splits{"input_split_sizes"}, Text{"group_name"});
}

PyObject* all_to_all(const Call& call) {
  return run("all_to_all", call, ops::all_to_all, Plain{"input"}, Splits{"output_split_sizes"},
             Splits{"input_split_sizes"}, Text{"group_name"});
}

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
