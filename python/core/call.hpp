// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A call of the library from Python: without the interpreter lock, with an eye on signals, and with
// an exception instead of a status.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "array.hpp"
#include "communicator.hpp"
#include "values.hpp"

namespace tutti_core {

// Waits of this thread run the handlers of signals; one that raises ends the wait, and its
// exception stays set in the thread.
void look_for_signals();
// Whether the interpreter ends, whose lock must not be taken then.
bool is_finalizing();
// Throws what a handler has raised, or the exception that `status` stands for.
void check(tutti_status status, const char* operation, int rank);
// The exception itself, and what was raised by a handler instead of it.
nb::object exception_of(tutti_status status, const char* operation, int rank);

// The calls on a communicator that are in progress. `alone`: one thread at a time.
class Use {
 public:
  Use(Communicator& comm, const char* operation, bool alone);
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use();

 private:
  Communicator& comm_;
  bool alone_;
};

template <typename Body>
tutti_status without_lock(Body body) {
  look_for_signals();
  const nb::gil_scoped_release released;
  return body();
}

// An operation and its buffers.
class Call {
 public:
  Call(Communicator& comm, const char* operation)
      : comm_(comm), operation_(operation), use_(comm, operation, true) {}

  Array& reads(nb::handle given, const char* parameter) { return add(given, false, parameter, 1); }
  Array& writes(nb::handle given, const char* parameter) { return add(given, true, parameter, 1); }
  // A block for each rank.
  Array& reads_blocks(nb::handle given, const char* parameter) {
    return add(given, false, parameter, size());
  }
  Array& writes_blocks(nb::handle given, const char* parameter) {
    return add(given, true, parameter, size());
  }

  // Checks that throw before anything is sent.
  void expect_type(const Array& send, const Array& recv) const;
  void expect_count(const Array& array, const char* parameter, size_t count,
                    const char* meaning) const;
  void expect_blocks(const Array& array, const char* parameter) const;
  int root(nb::handle given) const;
  // This rank's block of an allgather or gather: where it is, and how long all blocks are. If
  // `send` is IN_PLACE, it lies in `to`.
  struct Block {
    const void* data;
    size_t count;
  };
  Block own_block(nb::handle send, const Array& to);
  int op(nb::handle given, const Array& array) const { return op_of(given, array, operation_); }
  [[noreturn]] void refuse_in_place(const char* instead) const;

  // Blocking: waits and gives None; else gives the request that keeps the buffers.
  template <bool kLater, typename Blocking, typename Starting, typename... Arguments>
  nb::object carry_out(Blocking blocking, Starting starting, Arguments... arguments) {
    if constexpr (kLater) {
      tutti_request_t request = nullptr;
      check(without_lock([&] { return starting(arguments..., comm_.handle, &request); }),
            operation_, comm_.rank);
      return keep_in_request(request);
    } else {
      const auto status = without_lock([&] { return blocking(arguments..., comm_.handle); });
      keep_in_group();
      check(status, operation_, comm_.rank);
      return nb::none();
    }
  }

  Communicator& comm() const { return comm_; }
  size_t size() const { return static_cast<size_t>(comm_.size); }
  size_t rank() const { return static_cast<size_t>(comm_.rank); }
  const char* operation() const { return operation_; }
  // Keeps until the group ends what a blocking call of an open group has recorded.
  void keep_in_group();

 private:
  Array& add(nb::handle given, bool written, const char* parameter, size_t blocks) {
    return arrays_[used_++] = Array(given, written, {operation_, parameter}, blocks);
  }
  nb::object keep_in_request(tutti_request_t request);

  Communicator& comm_;
  const char* operation_;
  Use use_;
  std::array<Array, 2> arrays_;
  size_t used_ = 0;
};

// Arguments of the calls: whatever is given comes to them, and they say what is wrong with it.
inline auto any(const char* name) { return nb::arg(name).none(); }

// The constant IN_PLACE.
nb::object in_place();
bool is_in_place(nb::handle given);
// Whether this thread is in a group.
bool is_in_group();
void add_groups(nb::module_& module);

}  // namespace tutti_core
