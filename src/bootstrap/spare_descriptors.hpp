// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A few descriptors more for a process that has none left, to tell the others just that.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>

#include <cerrno>

#include "core/fd.hpp"

namespace tutti::bootstrap {

inline bool lacks_descriptors() {
  const Fd probe(open("/dev/null", O_RDONLY | O_CLOEXEC));
  return !probe.open() && (errno == EMFILE || errno == ENFILE);
}

// While it lives, the process has as many as the hard limit lets it.
class SpareDescriptors {
 public:
  SpareDescriptors() {
    if (!lacks_descriptors() || getrlimit(RLIMIT_NOFILE, &old_limit_) != 0) return;
    rlimit most = old_limit_;
    most.rlim_cur = most.rlim_max;
    raised_ = setrlimit(RLIMIT_NOFILE, &most) == 0;
  }
  ~SpareDescriptors() {
    if (raised_) setrlimit(RLIMIT_NOFILE, &old_limit_);
  }
  SpareDescriptors(const SpareDescriptors&) = delete;
  SpareDescriptors& operator=(const SpareDescriptors&) = delete;

 private:
  rlimit old_limit_{};
  bool raised_ = false;
};

}  // namespace tutti::bootstrap
