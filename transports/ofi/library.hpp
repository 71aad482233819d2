// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// libfabric, opened when it is first needed. It exports only these functions. The others are calls
// through tables of the objects it makes, written out in its headers.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/status.hpp"

namespace tutti::ofi {

struct Library {
  int (*getinfo)(uint32_t version, const char* node, const char* service, uint64_t flags,
                 const fi_info* hints, fi_info** info) = nullptr;
  void (*freeinfo)(fi_info* info) = nullptr;
  fi_info* (*dupinfo)(const fi_info* info) = nullptr;
  int (*fabric)(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) = nullptr;
  const char* (*strerror)(int number) = nullptr;
  uint32_t (*version)() = nullptr;
};

// The process's; the same answer every time.
const Result<Library>& library();

// A test's own network: `instead` replaces the process's from now on; null brings that back.
// Nothing that came of the one may be left when the other takes its place.
void replace_library(const Result<Library>* instead);

// An error in libfabric's words for `code`, a negative number that one of its functions returned.
Status reason(int64_t code);
// The failure, preceded by `what` was asked.
Status failure(int64_t code, std::string_view what);

// Gives the process its signal handlers back at its end. Libraries behind libfabric (psm2) install
// their own, which write files and turn a death by signal into exit(1).
class KeepSignals {
 public:
  KeepSignals();
  ~KeepSignals();
  KeepSignals(const KeepSignals&) = delete;

 private:
  std::array<struct sigaction, 32> kept_{};
};

struct FreeInfo {
  void operator()(fi_info* info) const;
};
using Info = std::unique_ptr<fi_info, FreeInfo>;  // a whole list, or one with `next` null

struct CloseFid {
  template <typename Object>
  void operator()(Object* object) const {
    object->fid.ops->close(&object->fid);
  }
};
template <typename Object>
using Owned = std::unique_ptr<Object, CloseFid>;

}  // namespace tutti::ofi
