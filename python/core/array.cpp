// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "array.hpp"

#include <cstring>
#include <optional>

namespace tutti_core {
namespace {

constexpr const char* kTypes =
    "expected signed or unsigned integers of 1 to 8 bytes, float16, bfloat16, float32, float64, "
    "float8_e4m3fn, float8_e5m2 or bool in this machine's byte order";

std::string text_of(nb::handle object) {
  const nb::object text = nb::steal(PyObject_Str(object.ptr()));
  const char* const characters = text.is_valid() ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  if (characters == nullptr) PyErr_Clear();
  return characters == nullptr ? "?" : characters;
}

std::string type_of(nb::handle given) { return text_of(nb::type_name(given.type())); }

// What Python's error says, which is then forgotten.
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

// By a format of Python's module struct.
std::optional<tutti_type> by_format(const char* format, size_t item) {
  if (std::strchr("@=<", *format) != nullptr && *format != 0) ++format;
  if (std::strlen(format) != 1) return {};
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
    case Code::Bfloat: return TUTTI_BFLOAT16;
    case Code::Float8_E4M3FN: return TUTTI_FLOAT8_E4M3;
    case Code::Float8_E5M2: return TUTTI_FLOAT8_E5M2;
    default: return {};
  }
}

// By the name of numpy's dtype, for types from ml_dtypes, which have no format.
std::optional<tutti_type> by_name(nb::handle given) {
  if (!nb::hasattr(given, "dtype")) return {};
  const std::string name = text_of(given.attr("dtype"));
  if (name == "bfloat16") return TUTTI_BFLOAT16;
  if (name == "float8_e4m3fn") return TUTTI_FLOAT8_E4M3;
  if (name == "float8_e5m2") return TUTTI_FLOAT8_E5M2;
  return {};
}

bool is_dense(const nb::ndarray<nb::ro>& tensor) {
  int64_t dense = 1;
  for (size_t i = tensor.ndim(); i-- > 0;) {
    if (tensor.shape(i) > 1 && tensor.stride(i) != dense) return false;
    dense *= static_cast<int64_t>(tensor.shape(i));
  }
  return true;
}

[[noreturn]] void refuse_type(nb::handle given, const std::string& type, Place place) {
  raise_type(place.text() + " is " + type_of(given) + " of " + type + "; " + kTypes);
}

[[noreturn]] void refuse_strides(nb::handle given, Place place) {
  raise_value(place.text() + " is " + type_of(given) +
              " that is not contiguous; expected elements one after the other, last index fastest");
}

[[noreturn]] void refuse_read_only(nb::handle given, Place place) {
  raise_value(place.text() + " is read-only " + type_of(given) + "; expected one that is writable");
}

[[noreturn]] void refuse_export(nb::handle given, const nb::python_error& error, Place place) {
  raise_type(place.text() + " is " + type_of(given) +
             " that gives no memory: " + text_of(error.value()));
}

// Asks for the form that says what is read-only, which older ones do not know.
nb::object capsule_of(nb::handle given, Place place) {
  try {
    return given.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(1, 1));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) refuse_export(given, error, place);
  }
  try {
    return given.attr("__dlpack__")();
  } catch (nb::python_error& error) {
    refuse_export(given, error, place);
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

void raise_type(const std::string& text) {
  PyErr_SetString(PyExc_TypeError, text.c_str());
  throw nb::python_error();
}

void raise_value(const std::string& text) {
  PyErr_SetString(PyExc_ValueError, text.c_str());
  throw nb::python_error();
}

Array::Array(nb::handle given, bool written, Place place) {
  if (PyObject_CheckBuffer(given.ptr()) != 0) {
    take_buffer(given, written, place);
  } else if (nb::hasattr(given, "__dlpack__")) {
    take_dlpack(given, written, place);
  } else {
    raise_type(place.text() + " is " + type_of(given) +
               "; expected an object with the buffer protocol or DLPack, such as numpy.ndarray, "
               "array.array, memoryview or torch.Tensor");
  }
}

void Array::take_buffer(nb::handle given, bool written, Place place) {
  auto view = std::make_unique<Py_buffer>();
  const int flags = PyBUF_STRIDES | (written ? PyBUF_WRITABLE : 0);
  const char* format = "";
  if (PyObject_GetBuffer(given.ptr(), view.get(), flags | PyBUF_FORMAT) == 0) {
    format = view->format == nullptr ? "B" : view->format;
  } else {
    const std::string why = take_error();
    if (PyObject_GetBuffer(given.ptr(), view.get(), flags) != 0) {
      PyErr_Clear();
      if (written && is_readable(given)) refuse_read_only(given, place);
      raise_type(place.text() + " is " + type_of(given) + " that gives no buffer (" + why + ")");
    }
  }
  view_.reset(view.release());
  if (PyBuffer_IsContiguous(view_.get(), 'C') == 0) refuse_strides(given, place);
  const auto item = static_cast<size_t>(view_->itemsize);
  set_type(given, format, item, place);
  data_ = view_->buf;
  count_ = item == 0 ? 0 : static_cast<size_t>(view_->len) / item;
}

void Array::set_type(nb::handle given, const char* format, size_t item, Place place) {
  const bool named = *format == 0 && nb::hasattr(given, "dtype");
  const auto type = *format == 0 ? by_name(given) : by_format(format, item);
  if (!type) {
    refuse_type(given,
                named ? text_of(given.attr("dtype")) : "format '" + std::string(format) + "'",
                place);
  }
  type_ = *type;
  bool_ = *format != 0 && format[std::strlen(format) - 1] == '?';
}

void Array::take_dlpack(nb::handle given, bool written, Place place) {
  const nb::object capsule = capsule_of(given, place);
  nb::ndarray<> writable;
  if (written && nb::try_cast(capsule, writable)) {
    tensor_ = nb::ndarray<nb::ro>(writable);
  } else if (!nb::try_cast(capsule, tensor_)) {
    raise_type(place.text() + " is " + type_of(given) + " whose DLPack has an unknown form");
  } else if (written) {
    refuse_read_only(given, place);
  }
  if (tensor_.device_type() != nb::device::cpu::value) {
    raise_type(place.text() + " is " + type_of(given) + " on a device of DLPack's type " +
               std::to_string(tensor_.device_type()) + "; expected memory of the host (type 1)");
  }
  const auto type = by_dlpack(tensor_.dtype());
  if (!type) {
    refuse_type(given,
                "DLPack's type " + std::to_string(tensor_.dtype().code) + " with " +
                    std::to_string(tensor_.dtype().bits) + " bits",
                place);
  }
  if (!is_dense(tensor_)) refuse_strides(given, place);
  type_ = *type;
  bool_ = tensor_.dtype().code == static_cast<uint8_t>(nb::dlpack::dtype_code::Bool);
  data_ = const_cast<void*>(tensor_.data());
  count_ = tensor_.size();
}

std::string Array::text() const {
  return std::string(bool_ ? "bool" : tutti_type_name(type_)) + "[" + std::to_string(count_) + "]";
}

}  // namespace tutti_core
