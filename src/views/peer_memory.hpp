// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory of a device that ranks of one host read of one another. Each rank exports its buffers:
// where they lie, and a handle of the allocation. A reader opens an allocation once. It stays open
// until its owner says that it has gone, or another one lies there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "devices/device.hpp"
#include "views/handed_fds.hpp"
#include "views/task.hpp"

namespace tutti {

// A buffer as other processes are told of it.
struct ExportedBuffer {
  uint64_t allocation = 0;  // allocation's number in the owner's process; 0: nothing is exported
  uint64_t base = 0;        // address of the allocation there
  uint64_t bytes = 0;
  uint64_t offset = 0;  // of the buffer in the allocation
  std::array<std::byte, sizeof(devices::MemoryHandle::bytes)> handle{};
  int32_t fd = -1;  // owner's descriptor that belongs to the handle; -1: none does
  int32_t unused = 0;
};
// Allocations that have gone, as far as one call tells; 0 is none.
using GoneAllocations = std::array<uint64_t, 8>;

// The memory of one context; one thread at a time, but for forget().
class PeerMemory {
 public:
  explicit PeerMemory(devices::DeviceContext& context);
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  // A buffer of this process, which lies at `place`.
  Result<ExportedBuffer> export_buffer(const void* buffer, const devices::MemoryPlace& place);
  // An allocation of this process is about to be freed. Any thread.
  void forget(const void* base);
  // The allocations that are gone and of which peers have not been told yet.
  GoneAllocations take_gone();
  // The last of those, for one peer alone.
  GoneAllocations last_gone();

  // The address at which this process reads a peer's buffer, or why it cannot. If it is not open
  // yet, the peer is asked at `address` for the descriptor of its handle, and has to serve()
  // meanwhile. All arguments stay valid meanwhile.
  Task reach(Communicator& comm, int rank, const ExportedBuffer& exported, const FdAddress& address,
             Result<std::byte*>& there);
  // Calls go on side by side: while one of these lives, nothing that may still be read is closed.
  class Reading {
   public:
    explicit Reading(PeerMemory& peers) : peers_(peers) { ++peers_.reads_; }
    ~Reading() { --peers_.reads_; }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    PeerMemory& peers_;
  };
  // A peer has told that these are no more: they are closed now, or later if anything is read.
  Status close(int rank, const GoneAllocations& gone);
  // The address at which peers ask for descriptors of handles. serve() answers those that have
  // asked, without blocking.
  const FdAddress& address() { return fd_server_.address(); }
  void serve();
  // Another number, for the whole process, once anything that was opened is open no more.
  [[nodiscard]] uint64_t generation() const { return generation_; }

  // The device may read it for ever: nothing is closed any more.
  void leak();

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
    bool gone = false;  // for its owner, who has not exported it since
  };

  void drop_those_that_are_gone();
  Result<const Exported*> export_of(const devices::MemoryPlace& place);
  Result<std::byte*> find(int rank, const ExportedBuffer& exported);
  Result<std::byte*> open(int rank, const ExportedBuffer& exported, Fd fd);
  Result<std::byte*> own(const ExportedBuffer& exported);
  Status make_room(int rank, const ExportedBuffer& exported);
  template <typename Which>
  Status close_if(const Which& which);

  devices::DeviceContext& context_;
  std::mutex mutex_;
  std::vector<Exported> exported_;  // guarded by mutex_; the least used first
  std::vector<uint64_t> gone_;      // guarded by mutex_
  std::vector<Opened> opened_;      // opened allocations, the least used first
  uint64_t generation_;
  bool some_gone_ = false;  // some of those opened may be gone
  int reads_ = 0;
  FdServer fd_server_;
};

}  // namespace tutti
