// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A program of oneCCL's C++ API, whose ranks the launcher knows.
//
//   . DIR/env/setvars.sh --oneccl
//   c++ examples/oneccl/allreduce.cpp -lccl -o allreduce
//   tutti run -n 2 ./allreduce
#include <iostream>
#include <numeric>
#include <oneapi/ccl.hpp>
#include <vector>

int main() try {
  ccl::init();
  auto comm = ccl::create_communicator();
  const std::vector<float> mine(1000, static_cast<float>(comm.rank() + 1));
  std::vector<float> sum(mine.size());
  ccl::allreduce(mine.data(), sum.data(), mine.size(), ccl::reduction::sum, comm).wait();
  std::cout << "rank " << comm.rank() << " of " << comm.size() << ": the sum is " << sum[0] << '\n';
  const int ranks = comm.size();
  return sum[0] == static_cast<float>(ranks * (ranks + 1) / 2) ? 0 : 1;
} catch (const ccl::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
