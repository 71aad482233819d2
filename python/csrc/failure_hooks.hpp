// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Functions that a program wants to run when its process group fails, before the error is raised.
#pragma once

#include <c10/util/Exception.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace tutti_torch {

class FailureHooks {
 public:
  using Hook = std::function<void()>;

  void add(int64_t id, Hook hook) {
    std::lock_guard guard(mutex_);
    hooks_.insert_or_assign(id, std::move(hook));
  }
  // False if there is none of that id.
  bool remove(int64_t id) {
    std::lock_guard guard(mutex_);
    return hooks_.erase(id) > 0;
  }
  // In the order of their ids. They may take Python's interpreter lock, so the caller holds no lock
  // of ours. The error that the program is about to see counts for more than one of theirs.
  void run() {
    std::map<int64_t, Hook> hooks;
    {
      std::lock_guard guard(mutex_);
      hooks = hooks_;
    }
    for (const auto& [id, hook] : hooks) {
      try {
        hook();
      } catch (const std::exception& error) {
        TORCH_WARN("ccl: the abort hook ", id, " failed: ", error.what());
      }
    }
  }

 private:
  std::mutex mutex_;
  std::map<int64_t, Hook> hooks_;
};

}  // namespace tutti_torch
