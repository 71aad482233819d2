// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The sequences of calls on one process group. The program's own threads make one; the callbacks of
// each queue (callbacks.hpp) make another, since nothing orders them against the program. Each has
// a communicator, which the ranks agree on through the group's store when its first call comes.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "callbacks.hpp"
#include "communicator.hpp"
#include "owner.hpp"

namespace tutti_torch {

class Coalescing;

// The objects that a process group lends to its operations.
struct Stream {
  std::shared_ptr<Communicator> communicator;
  std::string group;              // of the program's, and of the callbacks' among them
  std::vector<int> global_ranks;  // by rank; empty: the ranks are those of the job
  int rank;
  int size;
  std::shared_ptr<CallbackQueue> callbacks;     // those on futures of this stream's collectives
  std::shared_ptr<CallbackQueue> second_steps;  // of operations that are made of several
  Coalescing* coalescing;                       // of the group
  mutable std::atomic<uint64_t> sequence = 0;   // collectives begun
};

class Streams {
 public:
  using Milliseconds = std::chrono::milliseconds;
  // Makes the program's stream, as Communicator::create() does.
  Streams(c10::intrusive_ptr<c10d::Store> store, int rank, int size, Milliseconds timeout,
          GroupInfo info, Coalescing* coalescing);
  // The program's stream has a communicator that is there already.
  Streams(c10::intrusive_ptr<c10d::Store> store, std::shared_ptr<Communicator> communicator,
          int rank, int size, GroupInfo info, Coalescing* coalescing);
  ~Streams();

  Stream& program() { return *program_; }
  std::shared_ptr<const Stream> shared_program() const { return program_; }
  const c10::intrusive_ptr<c10d::Store>& store() const { return store_; }
  // That of this thread; made if it is not there. Collective over the threads of this origin.
  Stream& current() {
    const std::string& origin = CallbackQueue::origin();
    return origin.empty() ? *program_ : named(origin);
  }
  Stream& named(const std::string& origin);

  void set_default_timeout(Milliseconds timeout);
  void abort(const std::string& reason);
  // Closes all communicators; none is made any more.
  void close(Milliseconds grace);

 private:
  struct Slot {
    std::mutex mutex;  // held while the ranks meet, so that other streams need not wait
    std::unique_ptr<Stream> stream;
  };
  std::unique_ptr<Stream> make(const std::string& origin, Milliseconds timeout);
  std::unique_ptr<Stream> make_of(std::shared_ptr<Communicator> communicator,
                                  const std::string& origin);
  void for_each(const std::function<void(Communicator&)>& visit);

  const Owner owner_;
  c10::intrusive_ptr<c10d::Store> store_;
  const int rank_;
  const int size_;
  GroupInfo info_;  // its parent only until the program's stream is there
  Coalescing* const coalescing_;
  const std::shared_ptr<Stream> program_;

  std::mutex mutex_;  // of the next two
  std::map<std::string, std::shared_ptr<Slot>> others_;
  bool closed_ = false;
};

}  // namespace tutti_torch
