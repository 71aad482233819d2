// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory of a device that ranks of one host read of one another. Each rank shows the others where
// its buffers lie, with a handle of the allocation; whoever reads there opens the allocation once
// and keeps it open, until the owner says that it has gone, or something else lies there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "devices/device.hpp"
#include "transports/transport.hpp"
#include "views/handed_fds.hpp"

namespace tutti {

// What goes to the other processes.
struct ShownBuffer {
  uint64_t allocation = 0;  // its number in the owner's process; 0: nothing is shown
  uint64_t base = 0;        // where it begins there
  uint64_t bytes = 0;
  uint64_t offset = 0;  // of the buffer in it
  std::array<std::byte, sizeof(devices::MemoryHandle::bytes)> handle{};
  int32_t fd = -1;  // of the owner's, that belongs to the handle; -1: none does
  int32_t unused = 0;
};
// Allocations that have gone, as far as one call tells; 0 is none.
using GoneAllocations = std::array<uint64_t, 8>;

// Of one context; one thread at a time, but for forget().
class PeerMemory {
 public:
  explicit PeerMemory(devices::DeviceContext& context) : context_(context) {}
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  // A buffer of this process, which lies at `place`.
  Result<ShownBuffer> show(const void* buffer, const devices::Place& place);
  // An allocation of this process is about to be freed. Any thread.
  void forget(const void* base);
  // What peers have not been told of yet.
  GoneAllocations take_gone();
  // The last of those, for one peer alone.
  GoneAllocations last_gone();

  // Where this process reads what a peer shows. If the system does not let it take the descriptor
  // of a handle, it is then `wanted`, and taken from there once it has been handed over.
  Result<std::byte*> open(int rank, const PeerProcess& process, const ShownBuffer& shown,
                          WantedFds& wanted);
  // While something that is not a collective reads what was opened, nothing that may be read still
  // is closed to make room.
  void begin_read() { ++reads_; }
  void end_read() { --reads_; }
  // A peer has told that these are no more.
  Status close(int rank, const GoneAllocations& gone);
  // Where peers ask for descriptors of handles; answers those that have.
  const FdAddress& address() { return desk_.address(); }
  void serve();

  // The device may read it for ever: nothing is closed any more.
  void leave() { opened_.clear(); }

 private:
  struct Exported {
    uint64_t allocation;
    void* base;
    devices::MemoryHandle handle;
  };
  struct Opened {
    int rank;
    uint64_t allocation;
    uint64_t base;
    uint64_t bytes;
    void* memory;
  };

  void drop_those_that_are_gone();
  Result<const Exported*> exported(const devices::Place& place);
  Result<void*> open_new(int rank, const PeerProcess& process, const ShownBuffer& shown,
                         WantedFds& wanted);
  static Result<Fd> fetch(int rank, const PeerProcess& process, int32_t number, WantedFds& wanted);
  Result<std::byte*> own(const ShownBuffer& shown);
  template <typename Which>
  Status close_if(const Which& which);

  devices::DeviceContext& context_;
  std::mutex mutex_;
  std::vector<Exported> exported_;  // guarded by mutex_; the least used first
  std::vector<uint64_t> gone_;      // guarded by mutex_
  std::vector<Opened> opened_;      // the least used first
  int reads_ = 0;
  FdDesk desk_;
};

}  // namespace tutti
