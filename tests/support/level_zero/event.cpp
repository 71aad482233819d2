// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "support/level_zero/event.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace tutti_test::ze {

EventMemory::EventMemory(uint32_t count, int fd) : count_(count), fd_(fd) {
  const size_t bytes = count * sizeof(EventState);
  if (fd_ < 0) {
    fd_ = memfd_create("tutti test events", MFD_CLOEXEC);
    if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(bytes)) != 0) throw std::bad_alloc();
  }
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (at == MAP_FAILED) {
    close(fd_);
    throw std::bad_alloc();
  }
  states_ = static_cast<EventState*>(at);
}

EventMemory::~EventMemory() {
  munmap(states_, count_ * sizeof(EventState));
  close(fd_);
}

}  // namespace tutti_test::ze
