// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Tutti from C++20: a thin layer over tutti.h, in headers alone. The rules of tutti.h about
// collectives, order, threads and failures hold here; this header adds owners, element types and
// sizes.
//
//   tutti::Communicator comm = tutti::Communicator::from_env();
//   std::vector<float> gradient(1000);
//   comm.allreduce(gradient, tutti::avg);                          // in place; throws tutti::Error
//   tutti::Request request = comm.nonblocking().allreduce(gradient, tutti::sum);
//   request.wait();
//   if (auto status = comm.nothrow().barrier(); !status) puts(status.text());
//
// Buffers are contiguous ranges (std::vector, std::array, std::span, arrays) of element types, see
// tutti/cpp/elements.hpp. Counts follow from their sizes; a size that does not suit is
// TUTTI_ERR_INVALID_ARGUMENT before anything is sent.
//
// Errors are exceptions, or results where asked for: comm.nothrow(), tutti::nothrow::Communicator.
// In both manners the same functions are there; see tutti/cpp/error.hpp.
//
// Forms. comm.X() blocks; comm.nonblocking().X() starts and gives a Request; comm.persistent().X()
// gives a Request to be started any number of times.
//
// Ownership. Communicator, Request, Memory and Reduction own their handles, and can be moved and
// not copied. They free them at their end, without a word if that fails: Communicator::destroy()
// tells. Requests, memory and reductions must end before the communicator that they belong to. A
// view, as comm.nothrow() gives, owns nothing and must not outlive its communicator.
//
// Threads. A communicator and its views are used from one thread at a time, as in C. Exceptions are
// abort(), state() and the wait and test of a request.
#pragma once

#if __cplusplus < 202002L
#error "tutti/tutti.hpp is for C++20 (-std=c++20); older C++ has the same in tutti/tutti.h"
#else
#include <tutti/cpp/communicator.hpp>
#endif
