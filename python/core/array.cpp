// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "array.hpp"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "values.hpp"

namespace tutti_core {
namespace {

constexpr const char* kTypes =
    "expected signed or unsigned integers of 1 to 8 bytes, float16, bfloat16, float32, float64, "
    "float8_e4m3fn, float8_e5m2, complex64, complex128 or bool in this machine's byte order";

std::string text_of(nb::handle object) {
  const nb::object text = nb::steal(PyObject_Str(object.ptr()));
  const char* const characters =
      text.is_valid() ? PyUnicode_AsUTF8AndSize(text.ptr(), nullptr) : nullptr;
  if (characters == nullptr) PyErr_Clear();
  return characters == nullptr ? "?" : characters;
}

// The text of Python's error, which is then forgotten.
std::string take_error() {
  nb::python_error error;
  return text_of(error.value());
}

std::optional<tutti_type> integer(size_t bytes, bool has_sign) {
  switch (bytes) {
    case 1: return has_sign ? TUTTI_INT8 : TUTTI_UINT8;
    case 2: return has_sign ? TUTTI_INT16 : TUTTI_UINT16;
    case 4: return has_sign ? TUTTI_INT32 : TUTTI_UINT32;
    case 8: return has_sign ? TUTTI_INT64 : TUTTI_UINT64;
    default: return {};
  }
}

std::optional<tutti_type> floating(size_t bytes) {
  switch (bytes) {
    case 2: return TUTTI_FLOAT16;
    case 4: return TUTTI_FLOAT32;
    case 8: return TUTTI_FLOAT64;
    default: return {};
  }
}

std::optional<tutti_type> complex(size_t bytes) {
  switch (bytes) {
    case 8: return TUTTI_COMPLEX64;
    case 16: return TUTTI_COMPLEX128;
    default: return {};
  }
}

// The type of a format of Python's module struct, in which Z stands before the type of both parts.
std::optional<tutti_type> by_format(const char* format, size_t item) {
  if (std::strchr("@=<", *format) != nullptr && *format != 0) ++format;
  const std::string_view given = format;
  if (given == "Zf" || given == "Zd") return complex(item);
  if (given.size() != 1) return {};
  if (std::strchr("bhilqn", *format) != nullptr) return integer(item, true);
  if (std::strchr("BHILQN?c", *format) != nullptr) return integer(item, false);
  if (std::strchr("efd", *format) != nullptr) return floating(item);
  return {};
}

std::optional<tutti_type> by_dlpack(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  if (type.lanes != 1 || type.bits % 8 != 0) return {};
  switch (static_cast<Code>(type.code)) {
    case Code::Int: return integer(type.bits / 8, true);
    case Code::UInt:
    case Code::Bool: return integer(type.bits / 8, false);
    case Code::Float: return floating(type.bits / 8);
    case Code::Complex: return complex(type.bits / 8);
    case Code::Bfloat: return TUTTI_BFLOAT16;
    case Code::Float8_E4M3FN: return TUTTI_FLOAT8_E4M3;
    case Code::Float8_E5M2: return TUTTI_FLOAT8_E5M2;
    default: return {};
  }
}

// The type by the name of numpy's dtype, for types from ml_dtypes, which have no format.
std::optional<tutti_type> by_name(nb::handle given) {
  if (!nb::hasattr(given, "dtype")) return {};
  const std::string name = text_of(given.attr("dtype"));
  if (name == "bfloat16") return TUTTI_BFLOAT16;
  if (name == "float8_e4m3fn") return TUTTI_FLOAT8_E4M3;
  if (name == "float8_e5m2") return TUTTI_FLOAT8_E5M2;
  return {};
}

// The type that the caller names: one of tutti_ccl.MPI, or a code of numpy or struct such as 'd' or
// "f8".
struct NamedType {
  tutti_type type;
  bool is_bool;
};
std::optional<NamedType> by_code(std::string_view code) {
  if (!code.empty() && std::string_view("@=<").find(code.front()) != code.npos)
    code.remove_prefix(1);
  if (code == "?" || code == "b1") return NamedType{TUTTI_UINT8, true};
  if (code == "F") code = "c8";
  if (code == "D") code = "c16";
  std::optional<tutti_type> type;
  if (code.size() == 1) {
    constexpr std::pair<std::string_view, size_t> kSizes[] = {
        {"bBc", 1}, {"hHe", 2}, {"iIf", sizeof(int)}, {"lL", sizeof(long)}, {"qQnNd", 8}};
    for (const auto& [codes, size] : kSizes) {
      if (codes.find(code) != codes.npos) type = by_format(std::string(code).c_str(), size);
    }
  } else if (code == "c16") {
    type = TUTTI_COMPLEX128;
  } else if (code.size() == 2 && code[1] >= '1' && code[1] <= '8') {
    const auto bytes = static_cast<size_t>(code[1] - '0');
    if (code[0] == 'i' || code[0] == 'u') type = integer(bytes, code[0] == 'i');
    if (code[0] == 'f') type = floating(bytes);
    if (code[0] == 'c') type = complex(bytes);
  }
  return type ? std::optional(NamedType{*type, false}) : std::nullopt;
}

bool is_type(nb::handle given) {
  return PyUnicode_Check(given.ptr()) != 0 || nb::hasattr(given, "typechar");
}

bool is_memory(nb::handle given) {
  return PyObject_CheckBuffer(given.ptr()) != 0 || nb::hasattr(given, "__dlpack__");
}

// The class named so in the module, once a program has imported that; null else. Kept for good.
PyTypeObject* known_class(PyTypeObject*& kept, const char* module, const char* name) {
  if (kept == nullptr) {
    PyObject* const modules = PyImport_GetModuleDict();
    PyObject* const found = PyDict_GetItemString(modules, module);
    PyObject* const type = found == nullptr ? nullptr : PyObject_GetAttrString(found, name);
    if (type == nullptr) PyErr_Clear();
    if (type != nullptr && PyType_Check(type)) kept = reinterpret_cast<PyTypeObject*>(type);
  }
  return kept;
}

// Whether the object's class computes otherwise than `base` does: it is more than its memory. So
// are arrays with a mask or a unit, and tensors that are parts of others.
bool computes_otherwise(nb::handle given, PyTypeObject* base, const char* const* methods) {
  if (base == nullptr || Py_TYPE(given.ptr()) == base ||
      PyType_IsSubtype(Py_TYPE(given.ptr()), base) == 0) {
    return false;
  }
  for (; *methods != nullptr; ++methods) {
    const nb::object own = nb::getattr(given.type(), *methods, nb::none());
    const nb::object plain =
        nb::getattr(nb::handle(reinterpret_cast<PyObject*>(base)), *methods, nb::none());
    if (PyObject_RichCompareBool(own.ptr(), plain.ptr(), Py_EQ) != 1) {
      PyErr_Clear();
      return true;
    }
  }
  return false;
}

void expect_plain(nb::handle given, Argument argument) {
  static PyTypeObject* ndarray = nullptr;
  static PyTypeObject* tensor = nullptr;
  constexpr const char* kArrayMethods[] = {"__add__", "__array_ufunc__", nullptr};
  constexpr const char* kTensorMethods[] = {"__torch_dispatch__", nullptr};
  if (known_class(ndarray, "numpy", "ndarray") == Py_TYPE(given.ptr())) return;
  const bool is_array = computes_otherwise(given, ndarray, kArrayMethods);
  if (!is_array &&
      !computes_otherwise(given, known_class(tensor, "torch", "Tensor"), kTensorMethods)) {
    return;
  }
  raise_type(
      argument.text() + " is " + type_name_of(given) +
      ", which is more than its memory (a mask, a unit, a part of another); expected a " +
      (is_array ? "plain array, such as x.filled(0) or x.view(numpy.ndarray)" : "plain tensor") +
      ", or a lower-case call, which takes any object");
}

bool is_dense(const nb::ndarray<nb::ro>& tensor) {
  int64_t dense = 1;
  for (size_t i = tensor.ndim(); i-- > 0;) {
    if (tensor.shape(i) > 1 && tensor.stride(i) != dense) return false;
    dense *= static_cast<int64_t>(tensor.shape(i));
  }
  return true;
}

[[noreturn]] void refuse_type(nb::handle given, const std::string& type, Argument argument) {
  raise_type(argument.text() + " is " + type_name_of(given) + " of " + type + "; " + kTypes);
}

[[noreturn]] void refuse_strides(nb::handle given, Argument argument) {
  raise_value(argument.text() + " is " + type_name_of(given) +
              " that is not contiguous; expected elements one after the other, last index fastest");
}

[[noreturn]] void refuse_read_only(nb::handle given, Argument argument) {
  raise_value(argument.text() + " is read-only " + type_name_of(given) +
              "; expected one that is writable");
}

[[noreturn]] void refuse_export(nb::handle given, const nb::python_error& error,
                                Argument argument) {
  raise_type(argument.text() + " is " + type_name_of(given) +
             " that gives no memory: " + text_of(error.value()));
}

// Asks for the form that says what is read-only, which older ones do not know.
nb::object capsule_of(nb::handle given, Argument argument) {
  try {
    return given.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(1, 1));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) refuse_export(given, error, argument);
  }
  try {
    return given.attr("__dlpack__")();
  } catch (nb::python_error& error) {
    refuse_export(given, error, argument);
  }
}

bool is_readable(nb::handle given) {
  Py_buffer view;
  if (PyObject_GetBuffer(given.ptr(), &view, PyBUF_STRIDES) != 0) {
    PyErr_Clear();
    return false;
  }
  PyBuffer_Release(&view);
  return true;
}

}  // namespace

std::string type_name_of(nb::handle given) { return text_of(nb::type_name(given.type())); }

void raise_type(const std::string& text) {
  PyErr_SetString(PyExc_TypeError, text.c_str());
  throw nb::python_error();
}

void raise_value(const std::string& text) {
  PyErr_SetString(PyExc_ValueError, text.c_str());
  throw nb::python_error();
}

// [buffer, count, displacement, type]
struct Array::Part {
  nb::object buffer;
  nb::object count = nb::none();
  nb::object displacement = nb::none();
  nb::object type = nb::none();

  explicit Part(nb::handle given) {
    const nb::object items = nb::steal(PySequence_Tuple(given.ptr()));
    const size_t size = nb::len(items);
    buffer = items[0];
    if (size == 4) displacement = items[2];
    if (size > 2) type = items[size - 1];
    nb::object second = items[1];
    if (size == 2 && is_type(second)) {
      type = std::move(second);
    } else if (size < 4 && is_sequence(second) && nb::len(second) == 2) {
      count = second[0];
      displacement = second[1];
    } else {
      count = std::move(second);
    }
  }
  static bool is_sequence(nb::handle given) {
    return PyList_Check(given.ptr()) != 0 || PyTuple_Check(given.ptr()) != 0;
  }
  // Whether an object is to be read so.
  static bool is_one(nb::handle given) {
    if (!is_sequence(given) || nb::len(given) < 2 || nb::len(given) > 4) return false;
    const nb::object first = given[0];
    return first.is_none() || is_memory(first);
  }
};

Array::Array(nb::handle given, bool written, Argument argument, size_t blocks) {
  if (Part::is_one(given)) {
    take_part(Part(given), written, argument, blocks);
  } else {
    take(given, written, argument);
  }
}

void Array::take(nb::handle given, bool written, Argument argument) {
  if (PyObject_CheckBuffer(given.ptr()) != 0) {
    expect_plain(given, argument);
    take_buffer(given, written, argument);
  } else if (nb::hasattr(given, "__dlpack__")) {
    expect_plain(given, argument);
    take_dlpack(given, written, argument);
  } else {
    raise_type(argument.text() + " is " + type_name_of(given) +
               "; expected an object with the buffer protocol or DLPack, such as numpy.ndarray, "
               "array.array, memoryview or torch.Tensor, or [buffer, count, type]");
  }
}

void Array::take_part(const Part& part, bool written, Argument argument, size_t blocks) {
  if (!part.buffer.is_none()) take(part.buffer, written, argument);
  if (!part.type.is_none()) view_as(part.type, argument);
  const auto number = [&](const nb::object& given, const char* what) {
    const std::string name = std::string(what) + " in " + argument.parameter;
    const Argument where{argument.operation, name.c_str()};
    const int value = given.is_none() ? 0 : int_of(given, where);
    if (value < 0)
      raise_value(where.text() + " is " + std::to_string(value) + "; expected 0 or more");
    return static_cast<size_t>(value);
  };
  const size_t begin = number(part.displacement, "the displacement");
  const size_t count = number(part.count, "the count") * blocks;
  const size_t end = part.count.is_none() ? begin : begin + count;
  if (end > count_) {
    raise_value(argument.text() + " is " + text() + "; expected at least the " +
                std::to_string(end) + " elements that its count and displacement say");
  }
  data_ = at(begin);
  count_ = part.count.is_none() ? count_ - begin : count;
}

// Bytes become what the type says; other memory has its own type already.
void Array::view_as(nb::handle type, Argument argument) {
  const std::string code =
      text_of(PyUnicode_Check(type.ptr()) != 0 ? nb::borrow(type) : type.attr("typechar"));
  const auto wanted = by_code(code);
  if (!wanted) {
    raise_type(argument.text() + " has the type " + text_of(type) + "; " + kTypes +
               ", such as MPI.DOUBLE or 'd'");
  }
  const size_t bytes = count_ * tutti_type_size(type_);
  const size_t size = tutti_type_size(wanted->type);
  if (wanted->type != type_ && tutti_type_size(type_) != 1 && wanted->type != TUTTI_UINT8) {
    raise_type(argument.text() + " is " + text() + " and its type " + text_of(type) +
               "; expected its own type, or BYTE");
  }
  if (bytes % size != 0 || (bytes != 0 && reinterpret_cast<uintptr_t>(data_) % size != 0)) {
    raise_value(argument.text() + " is " + text() + "; expected whole elements of " +
                text_of(type) + ", aligned as such");
  }
  count_ = bytes / size;
  type_ = wanted->type;
  bool_ = wanted->is_bool;
}

void Array::take_buffer(nb::handle given, bool written, Argument argument) {
  auto view = std::make_unique<Py_buffer>();
  const int flags = PyBUF_STRIDES | (written ? PyBUF_WRITABLE : 0);
  const char* format = "";
  if (PyObject_GetBuffer(given.ptr(), view.get(), flags | PyBUF_FORMAT) == 0) {
    format = view->format == nullptr ? "B" : view->format;
  } else {
    const std::string why = take_error();
    if (PyObject_GetBuffer(given.ptr(), view.get(), flags) != 0) {
      PyErr_Clear();
      if (written && is_readable(given)) refuse_read_only(given, argument);
      raise_type(argument.text() + " is " + type_name_of(given) + " that gives no buffer (" + why +
                 ")");
    }
  }
  view_.reset(view.release());
  if (PyBuffer_IsContiguous(view_.get(), 'C') == 0) refuse_strides(given, argument);
  const auto item = static_cast<size_t>(view_->itemsize);
  set_type(given, format, item, argument);
  data_ = view_->buf;
  count_ = item == 0 ? 0 : static_cast<size_t>(view_->len) / item;
}

void Array::set_type(nb::handle given, const char* format, size_t item, Argument argument) {
  const bool named = *format == 0 && nb::hasattr(given, "dtype");
  const auto type = *format == 0 ? by_name(given) : by_format(format, item);
  if (!type) {
    refuse_type(given,
                named ? text_of(given.attr("dtype")) : "format '" + std::string(format) + "'",
                argument);
  }
  type_ = *type;
  bool_ = *format != 0 && format[std::strlen(format) - 1] == '?';
}

void Array::take_dlpack(nb::handle given, bool written, Argument argument) {
  // DLPack knows of no memory whose values are the negative of what is there.
  if (nb::hasattr(given, "is_neg") && nb::cast<bool>(given.attr("is_neg")())) {
    raise_value(argument.text() + " is " + type_name_of(given) +
                " that is a negated view; expected its values, as resolve_neg() gives them");
  }
  const nb::object capsule = capsule_of(given, argument);
  nb::ndarray<> writable;
  if (written && nb::try_cast(capsule, writable)) {
    tensor_ = nb::ndarray<nb::ro>(writable);
  } else if (!nb::try_cast(capsule, tensor_)) {
    raise_type(argument.text() + " is " + type_name_of(given) +
               " whose DLPack has an unknown form");
  } else if (written) {
    refuse_read_only(given, argument);
  }
  if (tensor_.device_type() != nb::device::cpu::value) {
    raise_type(argument.text() + " is " + type_name_of(given) + " on a device of DLPack's type " +
               std::to_string(tensor_.device_type()) + "; expected memory of the host (type 1)");
  }
  const auto type = by_dlpack(tensor_.dtype());
  if (!type) {
    refuse_type(given,
                "DLPack's type " + std::to_string(tensor_.dtype().code) + " with " +
                    std::to_string(tensor_.dtype().bits) + " bits",
                argument);
  }
  if (!is_dense(tensor_)) refuse_strides(given, argument);
  type_ = *type;
  bool_ = tensor_.dtype().code == static_cast<uint8_t>(nb::dlpack::dtype_code::Bool);
  data_ = const_cast<void*>(tensor_.data());
  count_ = tensor_.size();
}

std::string Array::text() const {
  return std::string(bool_ ? "bool" : tutti_type_name(type_)) + "[" + std::to_string(count_) + "]";
}

}  // namespace tutti_core
