// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A caller's buffer: anything with the buffer protocol (numpy, array, memoryview, bytearray) or
// else DLPack (tensors of PyTorch, JAX and others). Or a part of it, as mpi4py has it: [buffer,
// count, displacement, type], of which all but the buffer may be left out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <tutti/tutti.h>

#include <memory>
#include <string>

namespace tutti_core {

namespace nb = nanobind;

// An argument of a call, for errors: "Allreduce: recv".
struct Argument {
  const char* operation;
  const char* parameter;
  std::string text() const { return std::string(operation) + ": " + parameter; }
};

// Holds the memory of `given` until it goes. Made and destroyed under the interpreter lock.
class Array {
 public:
  Array() = default;
  // Throws TypeError or ValueError that names the argument, what was given and what was expected. A
  // count that is given is that of each of `blocks` blocks.
  Array(nb::handle given, bool written, Argument argument, size_t blocks = 1);
  Array(Array&&) noexcept = default;
  Array& operator=(Array&&) noexcept = default;

  void* data() const { return data_; }
  // The address of element `index`.
  void* at(size_t index) const {
    return data_ == nullptr ? nullptr : static_cast<char*>(data_) + index * tutti_type_size(type_);
  }
  size_t count() const { return count_; }
  tutti_type type() const { return type_; }
  bool is_bool() const { return bool_; }
  // "float32[12]"
  std::string text() const;

 private:
  struct Release {
    void operator()(Py_buffer* view) const {
      PyBuffer_Release(view);
      delete view;
    }
  };

  struct Part;
  void take(nb::handle given, bool written, Argument argument);
  void take_part(const Part& part, bool written, Argument argument, size_t blocks);
  void view_as(nb::handle type, Argument argument);
  void take_buffer(nb::handle given, bool written, Argument argument);
  void take_dlpack(nb::handle given, bool written, Argument argument);
  void set_type(nb::handle given, const char* format, size_t item, Argument argument);

  std::unique_ptr<Py_buffer, Release> view_;
  nb::ndarray<nb::ro> tensor_;
  void* data_ = nullptr;
  size_t count_ = 0;
  tutti_type type_ = TUTTI_UINT8;
  bool bool_ = false;
};

// The name of the object's type, for errors.
std::string type_name_of(nb::handle given);
// Types of Python's errors, with a text.
[[noreturn]] void raise_type(const std::string& text);
[[noreturn]] void raise_value(const std::string& text);

}  // namespace tutti_core
