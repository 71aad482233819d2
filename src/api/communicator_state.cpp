// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The functions of a communicator that are no calls: they ask for its state, or set it.
#include "api/guard.hpp"
#include "comm/communicator.hpp"

namespace tutti {
namespace {

// A use of the communicator by a thread that need not be the one that makes the calls:
// tutti_comm_destroy waits for it.
class Visit {
 public:
  explicit Visit(tutti_comm& comm) : comm_(comm) { comm_.visitors.fetch_add(1); }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() { comm_.visitors.fetch_sub(1); }

 private:
  tutti_comm& comm_;
};

}  // namespace
}  // namespace tutti

using namespace tutti;

extern "C" {

tutti_status tutti_comm_abort(tutti_comm_t comm, const char* reason) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_alive(comm, "tutti_comm_abort"));
    const Visit visit(*comm);
    comm->inside->health().abort(reason == nullptr ? "" : reason);
    return {};
  });
}

tutti_status tutti_comm_rank(tutti_comm_t comm, int* rank) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_alive(comm, "tutti_comm_rank"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(rank, "tutti_comm_rank", "rank"));
    *rank = comm->inside->rank();
    return {};
  });
}

tutti_status tutti_comm_size(tutti_comm_t comm, int* ranks) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_alive(comm, "tutti_comm_size"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(ranks, "tutti_comm_size", "ranks"));
    *ranks = comm->inside->ranks();
    return {};
  });
}

tutti_status tutti_comm_set_timeout(tutti_comm_t comm, int timeout_ms) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_alive(comm, "tutti_comm_set_timeout"));
    if (timeout_ms == 0 || timeout_ms < -1) {
      return Status::format(Code::kInvalidArgument,
                            "tutti_comm_set_timeout: {} ms: expected 1 or more, or -1 for none",
                            timeout_ms);
    }
    comm->inside->executor().set_timeout(timeout_ms < 0 ? kNever : timeout_ms);
    return {};
  });
}

tutti_status tutti_comm_get_timeout(tutti_comm_t comm, int* timeout_ms) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_alive(comm, "tutti_comm_get_timeout"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(timeout_ms, "tutti_comm_get_timeout", "timeout_ms"));
    const int64_t limit = comm->inside->executor().timeout_ms();
    *timeout_ms = limit == kNever ? -1 : static_cast<int>(limit);
    return {};
  });
}

tutti_status tutti_comm_state(tutti_comm_t comm) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_alive(comm, "tutti_comm_state"));
    const Visit visit(*comm);
    return comm->inside->health().cause();
  });
}

}  // extern "C"
