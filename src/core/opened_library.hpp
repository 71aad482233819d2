// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Libraries that are opened at run time, for good, and what they export.
#pragma once

#include <dlfcn.h>

#include <string>

#include "core/status.hpp"

namespace tutti {

class OpenedLibrary {
 public:
  explicit OpenedLibrary(const std::string& file, int mode = RTLD_NOW | RTLD_LOCAL)
      : OpenedLibrary(dlopen(file.c_str(), mode), file) {
    if (handle_ != nullptr) return;
    const char* const why = dlerror();  // null after RTLD_NOLOAD
    status_ = Status(Code::kUnsupported, why != nullptr ? why : file_ + " is not loaded");
  }
  // All that the program has loaded for everyone.
  static OpenedLibrary program() { return {RTLD_DEFAULT, "the program"}; }

  // kUnsupported: it cannot be opened, or lacks what is needed. The text names the file.
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] const std::string& file() const { return file_; }

  // Sets `to` to what it exports under that name, or to null. Whether there is such a thing.
  template <typename Pointer>
  bool find(const char* name, Pointer& to) const {
    to = status_.ok() ? reinterpret_cast<Pointer>(dlsym(handle_, name)) : nullptr;
    return to != nullptr;
  }
  template <typename Pointer>
  void need(const char* name, Pointer& to) {
    if (!find(name, to) && status_.ok()) {
      status_ = Status::format(Code::kUnsupported, "{} has no {}", file_, name);
    }
  }

 private:
  OpenedLibrary(void* handle, std::string file) : handle_(handle), file_(std::move(file)) {}

  void* handle_;
  std::string file_;
  Status status_;
};

}  // namespace tutti
