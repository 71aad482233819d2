// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// oneCCL's C++ interface for host memory, over Tutti: namespace ccl, also oneapi::ccl, as in
// releases 2021 and 2022. It is header-only; link with -lccl. C++11 or newer.
//
//   auto store = rank == 0 ? ccl::create_main_kvs() : ccl::create_kvs(address);
//   auto comm = ccl::create_communicator(size, rank, store);
//   ccl::allreduce(send, recv, count, ccl::reduction::sum, comm).wait();
//
// Errors are exceptions of class ccl::exception, whose text names what was given, what was expected
// and, where a peer is the cause, which. Ownership, order and threads are as in <tutti/tutti.h>.
#pragma once

#include <oneapi/ccl/collectives.hpp>
#include <oneapi/ccl/memory.hpp>

namespace oneapi {
namespace ccl = ::ccl;
}  // namespace oneapi
