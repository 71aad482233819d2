// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory and its registration, of oneCCL 2022. Host memory needs none: handles stand for buffers.
#pragma once

#include <cstdlib>
#include <oneapi/ccl/communicator.hpp>

#define CCL_WIN_DEFAULT 0
#define CCL_WIN_COLL_SYMMETRIC 1

namespace ccl {
namespace v1 {

// Zeroed, aligned to 2 MiB from that size on.
inline void mem_alloc(const stream&, size_t size, void** memory) {
  if (posix_memalign(memory, size < (size_t{2} << 20) ? 64 : size_t{2} << 20, size) != 0) {
    throw host_bad_alloc("", "mem_alloc");
  }
  std::memset(*memory, 0, size);
}
inline void mem_free(const stream&, void* memory) { std::free(memory); }

inline void comm_register(const communicator&, void* buffer, size_t, void** handle) {
  *handle = buffer;
}
inline void comm_deregister(const communicator&, void*) {}

// A registered buffer. It owns nothing: the buffer is the caller's, and must outlive the window.
class window {
 public:
  explicit window(void* buffer) : buffer_(buffer) {}
  window(window&& other) noexcept : buffer_(other.buffer_) { other.buffer_ = nullptr; }
  window& operator=(window&& other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  void* local() const { return buffer_; }

 private:
  void* buffer_;
};
inline window comm_window_register(const communicator&, void* buffer, size_t, int) {
  return window(buffer);
}
inline void comm_window_deregister(const communicator&, window&) {}

// Windows and communicators as a device's kernels have them, which host memory has not: there is no
// handle, and what asks for one throws.
struct window_data;
using window_t = window_data*;
inline window_t comm_window_register_v2(const communicator&, void*, size_t, int) { return nullptr; }
inline void comm_window_deregister(const communicator&, window_t& handle) { handle = nullptr; }

struct dev_comm_requirements {
  int lsa_barrier_count;
};
struct dev_comm_data {
  int rank;
  int nranks;
};
using dev_comm_t = dev_comm_data;
inline void get_local_device_pointer(window_t, size_t, void**) {
  throw unsupported("", "get_local_device_pointer", "this library takes host memory");
}
inline void get_peer_device_pointer(window_t, size_t, int, void**) {
  throw unsupported("", "get_peer_device_pointer", "this library takes host memory");
}
inline void get_lsa_device_pointer(window_t, size_t, int, void**) {
  throw unsupported("", "get_lsa_device_pointer", "this library takes host memory");
}
inline void dev_comm_create(const communicator&, const dev_comm_requirements*, dev_comm_t*) {
  throw unsupported("", "dev_comm_create", "kernels that communicate need a device");
}
inline void dev_comm_destroy(const communicator&, const dev_comm_t*) {}

}  // namespace v1
}  // namespace ccl
