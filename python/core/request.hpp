// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

#include "call.hpp"

namespace tutti_core {

// A call in progress. Keeps its buffers and its communicator.
class Request {
 public:
  static nb::object make(Communicator& comm, tutti_request_t request, const char* operation,
                         std::array<Array, 2> arrays);
  // One whose call had nothing to do; `received` is what its message says.
  static nb::object make_complete(Communicator& comm, const char* operation,
                                  std::optional<tutti_recv_info> received);
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request();

  nb::object wait(nb::handle timeout);
  bool test();
  // mpi4py's forms: they fill a status.
  bool wait_for_status(nb::handle status);
  bool test_for_status(nb::handle status);
  // Whether a wait or a test has told that it is complete.
  bool seen() const { return seen_; }
  // Waits, however it ends, and frees what is the library's; for who destroys the communicator.
  void end();

 private:
  Request(nb::object comm, tutti_request_t request, const char* operation,
          std::array<Array, 2> arrays);
  void complete(tutti_status status);
  void settle(tutti_status status);
  nb::object result();
  void tell(nb::handle status) const;

  nb::object keeper_;
  Communicator& comm_;
  tutti_request_t request_;
  const char* operation_;
  std::array<Array, 2> arrays_;
  size_t element_bytes_ = 1;  // of what is received
  bool done_ = false;
  bool seen_ = false;
  nb::object failure_;
  std::optional<tutti_recv_info> received_;
};

// Seconds as the library's milliseconds; None is `none`.
int milliseconds(std::optional<double> seconds, int none, const char* operation);
nb::class_<Request> add_requests(nb::module_& module);

}  // namespace tutti_core
