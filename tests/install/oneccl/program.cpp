// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A program of oneCCL's C++ API, of one rank.
#include <oneapi/ccl.hpp>

int main() {
  oneapi::ccl::init();
  auto comm = oneapi::ccl::create_communicator(1, 0, oneapi::ccl::create_main_kvs());
  const float x = 21;
  float sum = 0;
  oneapi::ccl::allreduce(&x, &sum, 1, oneapi::ccl::reduction::sum, comm).wait();
  return sum == 21 ? 0 : 1;
}
