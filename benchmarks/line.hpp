// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the line between two hosts needs: one connection of TCP whose ends wait by polling.
#ifndef TUTTI_BENCHMARKS_LINE_HPP
#define TUTTI_BENCHMARKS_LINE_HPP

#include <cstddef>
#include <vector>

class Line {
 public:
  // Of the first ranks of the first two hosts; all other ranks have no line. Connects at the first
  // exchange.
  Line(int rank, int ranks, int ranks_per_host);
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  // Seconds in which both ends send and receive `bytes` at once, each after it has all of the one
  // before; 0 of a rank without a line, negative after an error.
  double exchange(std::size_t bytes, long repetitions);

 private:
  bool connect();
  bool exchange_once(std::size_t bytes);

  bool listens_;
  bool connects_;
  int fd_ = -1;
  std::vector<char> sent_;
  std::vector<char> received_;
};

#endif
