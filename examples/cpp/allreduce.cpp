// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The smallest program in C++: each rank contributes its number, all learn the sum.
//
//   c++ -std=c++20 examples/cpp/allreduce.cpp $(pkg-config --cflags --libs tutti) -o allreduce
//   tutti run -n 4 ./allreduce
#include <cstdio>
#include <tutti/tutti.hpp>

int main() {
  try {
    // Rank and number of ranks come from the launcher; without one it is a job of one process.
    const auto comm = tutti::Communicator::from_env();
    float value = static_cast<float>(comm.rank());
    comm.allreduce(std::span(&value, 1), tutti::sum);  // in place
    std::printf("rank %d of %d: the sum of all ranks is %g\n", comm.rank(), comm.size(), value);
  } catch (const tutti::Error& error) {
    std::fprintf(stderr, "%s: %s\n", error.name(), error.what());
    return 1;
  }
}
