// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory for buffers.
#include "api/guard.hpp"
#include "api/views.hpp"

using namespace tutti;

extern "C" {

tutti_status tutti_alloc(tutti_comm_t comm, size_t bytes, void** memory) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_alive(comm, "tutti_alloc"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(memory, "tutti_alloc", "memory"));
    *memory = nullptr;
    if (comm->side() != nullptr) return allocate_on_device(*comm->side(), bytes, memory);
    const Result<void*> given = comm->inside->allocate(bytes);
    if (!given.ok()) return given.status().with_context("tutti_alloc");
    *memory = *given;
    return {};
  });
}

tutti_status tutti_free(tutti_comm_t comm, void* memory) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_alive(comm, "tutti_free"));
    if (comm->side() != nullptr) return free_on_device(*comm->side(), memory);
    return comm->inside->free(memory).with_context("tutti_free");
  });
}

}  // extern "C"
