// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The handle of oneCCL's C API: a communicator of the library, and who is using it.
//
// Life. onecclCommAbort frees the communicator while another thread may be inside a call on it. So
// every call counts itself (Use), and the abort waits until the calls, which it has ended, are
// gone. onecclCommDestroy then frees the handle.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "result.hpp"

namespace tutti_oneccl {

// A buffer that onecclCommRegister or onecclCommWindowRegister was given; its address is the
// handle.
struct Registered {
  std::byte* begin;
  size_t bytes;
  int rank;
};

}  // namespace tutti_oneccl

struct onecclComm {
  std::atomic<tutti_comm_t> inside{nullptr};  // null once aborted
  std::atomic<int> uses{0};
  std::atomic<bool> aborted{false};
  bool finalized = false;
  int device = 0;
  std::mutex mutex;
  std::map<const void*, std::unique_ptr<tutti_oneccl::Registered>> registered;  // under mutex
};

namespace tutti_oneccl {

// One call on a communicator; in a group it lasts until the group's end.
class Use {
 public:
  Use(onecclComm_t comm, const char* function) noexcept;
  ~Use();
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  explicit operator bool() const { return result_ == onecclSuccess; }
  [[nodiscard]] onecclResult_t result() const { return result_; }
  [[nodiscard]] tutti_comm_t handle() const { return handle_; }

 private:
  onecclComm_t comm_ = nullptr;
  tutti_comm_t handle_ = nullptr;
  onecclResult_t result_ = onecclSuccess;
};

// Whether this thread is inside a group.
bool in_group();
// Keeps a use until the group ends.
void keep_until_group_ends(onecclComm_t comm);

}  // namespace tutti_oneccl
