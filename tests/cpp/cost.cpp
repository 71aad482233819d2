// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pairs of functions that do the same in C and in C++: cost_test.py compares what a compiler makes
// of them.
#include <tutti/tutti.hpp>

#include <array>

using Pair = std::span<double, 2>;

extern "C" tutti_status allreduce_in_c(const double* send, double* recv, tutti_comm_t comm) {
  return tutti_allreduce(send, recv, 2, TUTTI_FLOAT64, TUTTI_SUM, comm);
}
extern "C" tutti_status allreduce_in_cpp(const double* send, double* recv, tutti_comm_t comm) {
  const tutti::Calls<tutti::Nothrow, tutti::Blocking> calls(comm, 0, 2);
  return calls.allreduce(std::span<const double, 2>(send, 2), Pair(recv, 2), tutti::sum).code();
}

// The same with errors on a cold path.
extern "C" [[noreturn, gnu::cold]] void failed(tutti_status status);
extern "C" void broadcast_in_c(double* buffer, tutti_comm_t comm) {
  const tutti_status status = tutti_broadcast(buffer, 2, TUTTI_FLOAT64, 0, comm);
  if (status != TUTTI_OK) failed(status);
}
extern "C" void broadcast_in_cpp(double* buffer, tutti_comm_t comm) {
  const tutti::Calls<tutti::Throw, tutti::Blocking> calls(comm, 0, 2);
  calls.broadcast(Pair(buffer, 2), 0);
}

extern "C" tutti_status start_in_c(double* buffer, tutti_comm_t comm) {
  tutti_request_t request = nullptr;
  tutti_status status =
      tutti_iallreduce(buffer, buffer, 2, TUTTI_FLOAT64, TUTTI_SUM, comm, &request);
  if (status == TUTTI_OK) status = tutti_request_wait(request);
  if (request != nullptr) tutti_request_free(request);
  return status;
}
extern "C" tutti_status start_in_cpp(double* buffer, tutti_comm_t comm) {
  const tutti::Calls<tutti::Nothrow, tutti::Nonblocking> calls(comm, 0, 2);
  auto request = calls.allreduce(Pair(buffer, 2), tutti::sum);
  return request ? request->wait().code() : request.code();
}
