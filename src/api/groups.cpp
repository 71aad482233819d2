// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "api/groups.hpp"

#include <algorithm>
#include <vector>

namespace tutti {
namespace {

struct Recorded {
  tutti_comm_t comm = nullptr;
  std::unique_ptr<Completion> own{};  // of a blocking call
  Completion* inside = nullptr;
  tutti_request* request = nullptr;  // of a non-blocking call, else null
  const Message* message = nullptr;  // of a blocking receive that wants
  tutti_recv_info* info = nullptr;   // this
  Status status{};
};

// A request can be waited for from here on, and gives an error if its operation could not begin.
void release(Recorded& call) {
  if (!call.status.ok()) call.inside->fail(call.status);
  call.request->grouped = false;
  call.request->started = true;
}

struct Group {
  int depth = 0;
  std::vector<Recorded> calls;

  Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  // The thread ends inside a group: nothing recorded takes place.
  ~Group() {
    if (depth > 0) group_detail::open_groups.fetch_sub(1, std::memory_order_relaxed);
    for (Recorded& call : calls) {
      call.comm->grouped.fetch_sub(1, std::memory_order_relaxed);
      if (call.request == nullptr) continue;
      call.status = {Code::kInvalidUsage, "the thread ended inside the group that recorded this"};
      release(call);
    }
  }
};

thread_local Group group;

Status add(Recorded call) {
  tutti_comm_t comm = call.comm;
  group.calls.push_back(std::move(call));
  comm->grouped.fetch_add(1, std::memory_order_relaxed);
  return {};
}

// ---- the end -----------------------------------------------------------------------------------

Status begin(Completion& inside, StartedFor whom) {
  try {
    return inside.start(whom);
  } catch (const std::bad_alloc&) {
    // Others have begun and must be seen to their end.
    return {Code::kOutOfMemory, "no memory to begin it"};
  }
}

// Whether this thread alone can see the calls to their end: a thread sleeps on the bell of one
// communicator only, and does not stay for what it need not wait for.
bool needs_no_worker(const std::vector<Recorded>& calls) {
  return std::all_of(calls.begin(), calls.end(), [&](const Recorded& call) {
    return call.request == nullptr && call.comm == calls.front().comm;
  });
}

// Beginning waits for nobody, so the order of the calls matters only where it has a meaning: among
// the collectives of one communicator, and among messages that match alike.
void begin_all(std::vector<Recorded>& calls, StartedFor whom) {
  for (Recorded& call : calls) {
    call.status = begin(*call.inside, whom);
    if (call.request != nullptr) release(call);
    call.comm->grouped.fetch_sub(1, std::memory_order_relaxed);
  }
}

void wait_for_all(Communicator& comm, const std::vector<Recorded>& calls) {
  auto pending = calls.begin();
  wait_until(comm.messages().waiter_of_caller(), [&] {
    comm.executor().help();
    comm.messages().help();
    while (pending != calls.end() && (!pending->status.ok() || pending->inside->done())) ++pending;
    return pending == calls.end();
  });
}

void finish(Recorded& call) {
  if (call.request != nullptr || !call.status.ok()) return;
  call.status = call.inside->wait(kNever);
  if (call.info != nullptr && call.status.ok()) *call.info = call.message->received();
}

Status run(std::vector<Recorded> calls) {
  if (calls.empty()) return {};
  const bool alone = needs_no_worker(calls);
  begin_all(calls, alone ? StartedFor::kCaller : StartedFor::kWorkers);
  if (alone) wait_for_all(*calls.front().comm->inside, calls);
  Status first;
  for (size_t i = 0; i < calls.size(); ++i) {
    finish(calls[i]);
    if (!first.ok() || calls[i].status.ok()) continue;
    first = calls[i].status.with_context(
        fmt::format("call {} of {} in the group", i + 1, calls.size()));
  }
  return first;
}

}  // namespace

bool group_detail::open_here() { return group.depth > 0; }

Status record(tutti_comm_t comm, const Call& call) {
  if (call.collective == Collective::kBarrier) {
    return {Code::kInvalidUsage,
            "tutti_barrier: inside a group it would return before anybody has arrived; call it "
            "after tutti_group_end, or use tutti_ibarrier"};
  }
  auto operation = std::make_unique<Operation>(comm->inside->executor(), call);
  Completion* const inside = operation.get();
  return add({.comm = comm, .own = std::move(operation), .inside = inside});
}

Status record(tutti_comm_t comm, const MessageArguments& arguments, tutti_recv_info* info) {
  auto message = std::make_unique<Message>(comm->inside->messages(), arguments);
  Message* const inside = message.get();
  return add(
      {.comm = comm, .own = std::move(message), .inside = inside, .message = inside, .info = info});
}

Status record(tutti_request& request) {
  TUTTI_RETURN_IF_ERROR(
      add({.comm = request.comm, .inside = request.inside.get(), .request = &request}));
  request.grouped = true;
  return {};
}

Status expect_no_group(std::string_view function) {
  if (!in_group()) [[likely]]
    return {};
  return Status::format(Code::kInvalidUsage,
                        "{}: not inside a group; call it before tutti_group_start or after "
                        "tutti_group_end",
                        function);
}

}  // namespace tutti

using namespace tutti;

extern "C" {

tutti_status tutti_group_start(void) {
  return guard([]() -> Status {
    if (group.depth++ == 0) group_detail::open_groups.fetch_add(1, std::memory_order_relaxed);
    return {};
  });
}

tutti_status tutti_group_end(void) {
  return guard([]() -> Status {
    if (group.depth == 0) {
      return {Code::kInvalidUsage, "tutti_group_end: this thread is in no group"};
    }
    if (--group.depth > 0) return {};
    group_detail::open_groups.fetch_sub(1, std::memory_order_relaxed);
    // Taken out first: a completion function may call us.
    return run(std::exchange(group.calls, {}));
  });
}

}  // extern "C"
