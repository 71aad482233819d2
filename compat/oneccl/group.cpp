// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "group.hpp"

#include <deque>
#include <vector>

#include "communicator.hpp"

namespace tutti_oneccl {
namespace {

struct ExpectedMessage {
  tutti_recv_info info{};
  size_t expected;
};

// The calls that this thread's group has recorded.
struct Group {
  int depth = 0;
  std::vector<onecclComm_t> used;
  std::deque<ExpectedMessage> received;  // in place until the group ends

  void release() {
    for (onecclComm_t comm : used) comm->uses.fetch_sub(1);
    used.clear();
    received.clear();
  }
};

thread_local Group group;

onecclResult_t check_counts() {
  for (const ExpectedMessage& message : group.received) {
    if (const auto result = check_received(message.info, message.expected)) return result;
  }
  return onecclSuccess;
}

}  // namespace

bool in_group() { return group.depth > 0; }

void keep_until_group_ends(onecclComm_t comm) { group.used.push_back(comm); }

tutti_recv_info* expect_in_group(size_t count) {
  return &group.received.emplace_back(ExpectedMessage{{}, count}).info;
}

onecclResult_t check_received(const tutti_recv_info& info, size_t expected) {
  if (info.count == expected) return onecclSuccess;
  return fail(onecclInvalidUsage, "onecclRecv: count is " + std::to_string(expected) +
                                      ", but rank " + std::to_string(info.source) + " sent " +
                                      std::to_string(info.count) + " elements");
}

}  // namespace tutti_oneccl

using namespace tutti_oneccl;

extern "C" {

onecclResult_t onecclGroupStart(void) {
  if (const tutti_status status = tutti_group_start()) return result_of(status);
  ++group.depth;
  return onecclSuccess;
}

onecclResult_t onecclGroupEnd(void) {
  return guard("onecclGroupEnd", [] {
    const tutti_status status = tutti_group_end();
    if (group.depth == 0) return result_of(status);  // an end without a start
    if (--group.depth > 0) return result_of(status);
    const onecclResult_t result = status == TUTTI_OK ? check_counts() : result_of(status);
    group.release();
    return result;
  });
}

}  // extern "C"
