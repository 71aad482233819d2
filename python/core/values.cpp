// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "values.hpp"

#include <limits>

namespace tutti_core {
namespace {

// "'red' (str)", shortened if it is long.
std::string shown(nb::handle given) {
  constexpr size_t kMost = 60;
  const nb::object repr = nb::steal(PyObject_Repr(given.ptr()));
  const char* const characters =
      repr.is_valid() ? PyUnicode_AsUTF8AndSize(repr.ptr(), nullptr) : nullptr;
  if (characters == nullptr) PyErr_Clear();
  std::string text = characters == nullptr ? "?" : characters;
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text + " (" + type_name_of(given) + ")";
}

[[noreturn]] void refuse(nb::handle given, Argument argument, const char* expected) {
  raise_type(argument.text() + " is " + shown(given) + "; expected " + expected);
}

// The constants of tutti_ccl.constants that are for Python objects, or for bool, have these.
enum ObjectOp { kLogicalAnd = -1, kLogicalOr = -2, kLogicalXor = -3 };

std::optional<int> logical(int op) {
  switch (op) {
    case kLogicalAnd: return TUTTI_BAND;
    case kLogicalOr: return TUTTI_BOR;
    case kLogicalXor: return TUTTI_BXOR;
    default: return {};
  }
}

}  // namespace

int int_of(nb::handle given, Argument argument) {
  if (PyIndex_Check(given.ptr()) == 0) refuse(given, argument, "an integer");
  const nb::object number = nb::steal(PyNumber_Index(given.ptr()));
  if (!number.is_valid()) {
    PyErr_Clear();
    refuse(given, argument, "an integer");
  }
  int overflow = 0;
  const long value = PyLong_AsLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0 || value < std::numeric_limits<int>::min() ||
      value > std::numeric_limits<int>::max()) {
    raise_value(argument.text() + " is " + shown(given) + "; expected an integer of 32 bits");
  }
  return static_cast<int>(value);
}

std::optional<int> maybe_int_of(nb::handle given, Argument argument) {
  if (given.is_none()) return {};
  return int_of(given, argument);
}

std::optional<double> maybe_seconds_of(nb::handle given, Argument argument) {
  if (given.is_none()) return {};
  const double seconds = PyFloat_AsDouble(given.ptr());
  if (seconds == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse(given, argument, "seconds as a number, or None");
  }
  return seconds;
}

std::optional<std::string> maybe_text_of(nb::handle given, Argument argument) {
  if (given.is_none()) return {};
  const char* const text =
      PyUnicode_Check(given.ptr()) ? PyUnicode_AsUTF8AndSize(given.ptr(), nullptr) : nullptr;
  if (text == nullptr) {
    PyErr_Clear();
    refuse(given, argument, "a str, or None");
  }
  return text;
}

int op_of(nb::handle given, const Array& array, const char* operation) {
  const Argument argument{operation, "op"};
  constexpr const char* kExpected =
      "SUM, PROD, MIN, MAX, AVG, BAND, BOR or BXOR of tutti_ccl; the lower-case calls take any "
      "operation, also functions";
  if (PyIndex_Check(given.ptr()) == 0) refuse(given, argument, kExpected);
  const int op = int_of(given, argument);
  if (op < 0) {
    if (const auto bitwise = logical(op); bitwise && array.is_bool()) return *bitwise;
    refuse(given, argument, kExpected);
  }
  if (array.is_bool() && (op == TUTTI_SUM || op == TUTTI_PROD || op == TUTTI_AVG)) {
    raise_type(std::string(operation) +
               ": op is SUM, PROD or AVG and the elements are bool; expected BOR, BAND, BXOR, MIN "
               "or MAX for them");
  }
  return op;
}

}  // namespace tutti_core
