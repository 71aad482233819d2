// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/shm/inspector_fd.hpp"

#include <fcntl.h>

#include <atomic>

namespace tutti::shm {
namespace {

constexpr int kMostKeptFds = 3;
std::atomic<int> kept{0};

}  // namespace

InspectorFd::InspectorFd(int file) {
  if (kept.fetch_add(1) < kMostKeptFds) file_.reset(fcntl(file, F_DUPFD_CLOEXEC, 0));
  if (!file_.open()) kept.fetch_sub(1);
}

InspectorFd::~InspectorFd() {
  if (file_.open()) kept.fetch_sub(1);
}

}  // namespace tutti::shm
