// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The output of several processes, line by line, each line with the rank it came from.
#pragma once

#include <poll.h>

#include <list>
#include <span>
#include <string>
#include <vector>

#include "core/fd.hpp"

namespace tutti::run {

class Output {
 public:
  // Makes the pipe of a rank whose lines go to `target` (standard output or error); its writing end
  // is for the rank. False: errno says why not.
  bool add(int rank, int target, tutti::Fd& write_end);
  void add_to(std::vector<pollfd>& polled) const;
  // Takes what has come; `polled` is what add_to appended.
  void take(std::span<const pollfd> polled);
  // All ranks have ended: takes what is left, and lines without an end.
  void finish();

 private:
  struct Stream {
    tutti::Fd pipe;
    int target;
    std::string prefix;
    std::string line;  // begun
  };
  static void read_from(Stream& stream);
  static void write_line(Stream& stream, size_t length);
  std::list<Stream> streams_;
};

}  // namespace tutti::run
