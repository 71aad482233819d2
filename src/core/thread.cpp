// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/thread.hpp"

#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace tutti {
namespace {

// A thread inherits the mask of the one that starts it.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old_mask_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t old_mask_;
};

}  // namespace

Result<std::thread> start_thread(const std::string& name, std::string_view what,
                                 std::function<void()> run) {
  const BlockedSignals blocked;
  try {
    return std::thread([name, run = std::move(run)] {
      pthread_setname_np(pthread_self(), name.c_str());
      run();
    });
  } catch (const std::system_error& failure) {
    const int error = failure.code().value();
    const Status status = Status::system(error, fmt::format("starting {} ({})", what, name));
    if (error != EAGAIN) return status;
    return Status::format(status.code(),
                          "{}; probably the limit on processes and threads is reached, that of "
                          "this user (ulimit -u) or of this control group (pids.max), or that on "
                          "address space (ulimit -v)",
                          status.message());
  }
}

}  // namespace tutti
