// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// All processes of the job, as the launcher knows them. Rank 0 can tell the others by it where its
// store is, if PyTorch was not told.
#pragma once

#include <tutti/tutti.h>

#include <chrono>
#include <memory>
#include <string>

namespace tutti_torch {

class Job {
 public:
  // Collective over the processes of the job; ends with an error after `timeout`.
  explicit Job(std::chrono::milliseconds timeout);

  int rank() const { return rank_; }
  int size() const { return size_; }
  // Returns the text of rank 0 on all ranks. Collective.
  std::string share(const std::string& text);

 private:
  struct Destroy {
    void operator()(tutti_comm_t comm) const { tutti_comm_destroy(comm); }
  };
  std::unique_ptr<tutti_comm, Destroy> comm_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace tutti_torch
