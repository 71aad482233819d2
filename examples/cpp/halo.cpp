// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Heat in a ring of cells, of which each rank has a hundred: neighbours exchange the outermost ones
// by messages, the middle is computed meanwhile.
//
//   c++ -std=c++20 examples/cpp/halo.cpp $(pkg-config --cflags --libs tutti) -o halo
//   tutti run -n 4 ./halo
#include <cstdio>
#include <tutti/tutti.hpp>
#include <vector>

namespace {

constexpr size_t kCells = 100;
constexpr int kToLeft = 0;  // tags
constexpr int kToRight = 1;

// Cell 0 and the last one are the neighbours'.
using Cells = std::vector<double>;

void spread(const Cells& from, Cells& to, size_t first, size_t last) {
  for (size_t i = first; i <= last; ++i) {
    to[i] = from[i] + 0.25 * (from[i - 1] - 2 * from[i] + from[i + 1]);
  }
}

void step(const tutti::Communicator& comm, Cells& cells, Cells& next) {
  const int left = (comm.rank() + comm.size() - 1) % comm.size();
  const int right = (comm.rank() + 1) % comm.size();
  const auto cell = [&](size_t i) { return std::span(&cells[i], 1); };
  const auto start = comm.nonblocking();
  tutti::Request requests[] = {
      start.recv(cell(0), left, kToRight), start.recv(cell(kCells + 1), right, kToLeft),
      start.send(cell(1), left, kToLeft), start.send(cell(kCells), right, kToRight)};
  spread(cells, next, 2, kCells - 1);
  for (tutti::Request& request : requests) request.wait();
  spread(cells, next, 1, 1);
  spread(cells, next, kCells, kCells);
  std::swap(cells, next);
}

}  // namespace

int main() {
  try {
    const auto comm = tutti::Communicator::from_env();
    Cells cells(kCells + 2);
    Cells next = cells;
    cells[kCells / 2] = 100;
    for (int i = 0; i < 1000; ++i) step(comm, cells, next);
    double heat = 0;
    for (size_t i = 1; i <= kCells; ++i) heat += cells[i];
    comm.allreduce(std::span(&heat, 1), tutti::sum);  // none is lost
    std::printf("rank %d: the heat of all cells is %g\n", comm.rank(), heat);
  } catch (const tutti::Error& error) {
    std::fprintf(stderr, "%s: %s\n", error.name(), error.what());
    return 1;
  }
}
