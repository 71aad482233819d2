// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Buffers of tests in the memory of a device: while there is a mirror, every GuardedBuffer has a
// twin there, which the calls get instead.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace tutti_test {

class Mirror {
 public:
  virtual ~Mirror() = default;

  // Of this process; null: buffers are used where they are.
  static Mirror*& current() {
    static Mirror* mirror = nullptr;
    return mirror;
  }

  void add(std::byte* host, size_t bytes) { twins_.push_back({host, bytes, allocate(bytes)}); }
  void remove(const std::byte* host) {
    for (size_t i = 0; i < twins_.size(); ++i) {
      if (twins_[i].host != host) continue;
      release(twins_[i].twin);
      twins_.erase(twins_.begin() + static_cast<ptrdiff_t>(i));
      return;
    }
  }
  // Of an address inside a buffer or at its end, that in its twin; any other address itself.
  [[nodiscard]] std::byte* at(const std::byte* address) const {
    const std::less_equal<> at_most;
    for (const Twin& twin : twins_) {
      if (at_most(twin.host, address) && at_most(address, twin.host + twin.bytes)) {
        return twin.twin + (address - twin.host);
      }
    }
    return const_cast<std::byte*>(address);
  }
  void upload() {
    for (const Twin& twin : twins_) copy(twin.twin, twin.host, twin.bytes);
    finish();
  }
  void download() {
    for (const Twin& twin : twins_) copy(twin.host, twin.twin, twin.bytes);
    finish();
  }

 protected:
  virtual std::byte* allocate(size_t bytes) = 0;
  virtual void release(std::byte* twin) = 0;
  // Begins a copy, one of which is on the device; all have ended after finish().
  virtual void copy(std::byte* dst, const std::byte* source, size_t bytes) = 0;
  virtual void finish() = 0;

 private:
  struct Twin {
    std::byte* host;
    size_t bytes;
    std::byte* twin;
  };
  std::vector<Twin> twins_;
};

// What a call is to be given for a buffer's address.
inline std::byte* on_device(const std::byte* address) {
  return Mirror::current() == nullptr ? const_cast<std::byte*>(address)
                                      : Mirror::current()->at(address);
}

}  // namespace tutti_test
