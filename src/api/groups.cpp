// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "api/groups.hpp"

#include <algorithm>
#include <vector>

namespace tutti {
namespace {

struct Recorded {
  static constexpr size_t kNoMessage = SIZE_MAX;

  tutti_comm_t comm = nullptr;
  tutti_request* request = nullptr;   // of a non-blocking call, else null
  std::unique_ptr<Completion> own{};  // completion of a blocking call
  Completion* inside = nullptr;       // null for a blocking message until it begins by itself:
  size_t message = kNoMessage;        // place in Recording::messages
  tutti_recv_info* info = nullptr;    // facts of a receive on a view; may be null
  Status status{};
};

// In the order of the calls. Blocking messages of one communicator are in `messages` as long as
// nothing else is recorded: a shift or an exchange of halos has only these.
struct Recording {
  std::vector<Recorded> calls;
  std::vector<BlockingMessage> messages;
  tutti_comm_t comm_of_messages = nullptr;  // while there are messages and no calls

  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() { let_go(); }
  void add(Recorded call) {
    calls.push_back(std::move(call));
    calls.back().comm->grouped.fetch_add(1, std::memory_order_relaxed);
  }
  void set_comm_of_messages(tutti_comm_t comm) {
    comm_of_messages = comm;
    comm->grouped.fetch_add(1, std::memory_order_relaxed);
  }
  // Before anything else is recorded.
  void list_messages() {
    if (comm_of_messages == nullptr) return;
    calls.reserve(messages.size() + 1);
    for (size_t i = 0; i < messages.size(); ++i) add({.comm = comm_of_messages, .message = i});
    forget_comm_of_messages();
  }
  void forget_comm_of_messages() {
    if (comm_of_messages == nullptr) return;
    comm_of_messages->grouped.fetch_sub(1, std::memory_order_relaxed);
    comm_of_messages = nullptr;
  }
  // The calls are over, or do not take place: their communicators may be destroyed.
  void let_go() {
    forget_comm_of_messages();
    for (const Recorded& call : calls) call.comm->grouped.fetch_sub(1, std::memory_order_release);
    calls.clear();
    messages.clear();
  }
};

// A request can be waited for from here on, and gives an error if its operation could not begin.
void release(Recorded& call) {
  if (!call.status.ok()) call.inside->fail(call.status);
  call.request->kind = tutti_request::Kind::kOnce;
  call.request->started = true;
}

struct Group;
// Null before the thread's first group. Without constructor or destructor, it costs one look.
constinit thread_local Group* group = nullptr;

struct Group {
  int depth = 0;
  std::unique_ptr<Recording> recording;  // null at most outside

  Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  // The thread ends inside a group: nothing recorded takes place.
  ~Group() {
    group = nullptr;
    if (is_forked()) return;
    if (depth > 0) groups_and_views.fetch_sub(1, std::memory_order_relaxed);
    if (recording == nullptr) return;
    for (Recorded& call : recording->calls) {
      if (call.request == nullptr) continue;
      call.status = {Code::kInvalidUsage, "the thread ended inside the group that recorded this"};
      release(call);
    }
  }
};

Group& group_of_this_thread() {
  if (group == nullptr) {
    thread_local Group of_this_thread;
    group = &of_this_thread;
  }
  return *group;
}

// ---- the end -----------------------------------------------------------------------------------

Status begin(Recorded& call, const Recording& recording, StartedFor whom) {
  try {
    if (call.message != Recorded::kNoMessage) {
      call.own = std::make_unique<Message>(call.comm->inside->messages(),
                                           recording.messages[call.message].arguments);
      call.inside = call.own.get();
    }
    return call.inside->start(whom);
  } catch (const std::bad_alloc&) {
    // Others have begun and must be seen to their end.
    return {Code::kOutOfMemory, "no memory to begin it"};
  }
}

// No begin waits for anybody. So the order of the calls matters only among the collectives of one
// communicator, and among messages that match alike.
void begin_all(Recording& recording, StartedFor whom) {
  for (Recorded& call : recording.calls) {
    call.status = begin(call, recording, whom);
    if (call.request != nullptr) release(call);
  }
}

void wait_for_all(Communicator& comm, const std::vector<Recorded>& calls) {
  auto pending = calls.begin();
  const auto nothing_left = [&] {
    comm.help();
    while (pending != calls.end() && (!pending->status.ok() || pending->inside->done())) ++pending;
    return pending == calls.end();
  };
  Waiter waiter = comm.messages().waiter_of_caller();
  if (wait_until(waiter, nothing_left) != WaitEnd::kInterrupted) return;
  comm.health().interrupt("a group of calls");
  waiter.uninterrupted = true;
  wait_until(waiter, nothing_left);
}

void finish(Recorded& call, const Recording& recording) {
  if (call.request != nullptr || !call.status.ok()) return;
  call.status = call.inside->wait(kNever);
  if (call.info != nullptr && call.status.ok()) {
    *call.info = *static_cast<const DeviceMessage&>(*call.own).received();
  }
  if (call.message == Recorded::kNoMessage || !call.status.ok()) return;
  tutti_recv_info* const info = recording.messages[call.message].info;
  if (info != nullptr) *info = static_cast<const Message&>(*call.own).received();
}

void run_each(Recording& recording, bool needs_no_worker) {
  begin_all(recording, needs_no_worker ? StartedFor::kCaller : StartedFor::kWorkers);
  if (needs_no_worker) wait_for_all(*recording.calls.front().comm->inside, recording.calls);
  for (Recorded& call : recording.calls) finish(call, recording);
}

const Status& status_of(const Recorded& call) { return call.status; }
const Status& status_of(const BlockingMessage& message) { return message.status(); }

// An error says which of the calls had it.
template <typename Calls>
Status first_error(const Calls& calls) {
  for (size_t i = 0; i < calls.size(); ++i) {
    if (status_of(calls[i]).ok()) continue;
    return status_of(calls[i]).with_context(
        fmt::format("call {} of {} in the group", i + 1, calls.size()));
  }
  return {};
}

Status run(Recording& recording) {
  if (recording.comm_of_messages != nullptr) {
    recording.comm_of_messages->inside->messages().run(recording.messages);
    return first_error(recording.messages);
  }
  std::vector<Recorded>& calls = recording.calls;
  if (calls.empty()) return {};
  // Whether this thread alone can see the calls to their end. It sleeps on the bell of one
  // communicator only, and does not stay for calls that it need not wait for.
  const bool needs_no_worker = std::ranges::all_of(calls, [&](const Recorded& call) {
    return call.request == nullptr && call.comm == calls.front().comm &&
           call.comm->view_queue == nullptr;
  });
  run_each(recording, needs_no_worker);
  return first_error(calls);
}

}  // namespace

bool group_open_here() { return group != nullptr && group->depth > 0; }

Status record(tutti_comm_t comm, const Call& call) {
  if (call.collective == Collective::kBarrier) {
    return {Code::kInvalidUsage,
            "tutti_barrier: inside a group it would return before anybody has arrived; call it "
            "after tutti_group_end, or use tutti_ibarrier"};
  }
  auto operation = std::make_unique<Operation>(comm->inside->executor(), call);
  Completion* const inside = operation.get();
  group->recording->list_messages();
  group->recording->add({.comm = comm, .own = std::move(operation), .inside = inside});
  return {};
}

Status record(tutti_comm_t comm, std::unique_ptr<DeviceOperation> operation,
              tutti_recv_info* info) {
  Completion* const inside = operation.get();
  group->recording->list_messages();
  group->recording->add(
      {.comm = comm, .own = std::move(operation), .inside = inside, .info = info});
  return {};
}

Status record(tutti_comm_t comm, const MessageArguments& arguments, tutti_recv_info* info) {
  Recording& recording = *group->recording;
  const bool first = recording.messages.empty() && recording.calls.empty();
  const bool alone = first || recording.comm_of_messages == comm;
  if (!alone) recording.list_messages();
  recording.messages.emplace_back(arguments, info);
  if (!alone) recording.add({.comm = comm, .message = recording.messages.size() - 1});
  if (first) recording.set_comm_of_messages(comm);
  return {};
}

Status record(tutti_request& request) {
  group->recording->list_messages();
  group->recording->add({.comm = request.comm.load(std::memory_order_relaxed),
                         .request = &request,
                         .inside = request.inside});
  request.kind = tutti_request::Kind::kRecorded;
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
    Group& here = group_of_this_thread();
    if (here.recording == nullptr) here.recording = std::make_unique<Recording>();
    if (here.depth++ == 0) groups_and_views.fetch_add(1, std::memory_order_relaxed);
    return {};
  });
}

tutti_status tutti_group_end(void) {
  return guard([]() -> Status {
    if (!group_open_here()) {
      return {Code::kInvalidUsage, "tutti_group_end: this thread is in no group"};
    }
    Group& here = *group;
    if (--here.depth > 0) return {};
    groups_and_views.fetch_sub(1, std::memory_order_relaxed);
    // Taken out first: a completion function may call us. Given back for its memory.
    std::unique_ptr<Recording> taken = std::move(here.recording);
    const Status status = run(*taken);
    taken->let_go();
    if (here.depth == 0) here.recording = std::move(taken);
    return status;
  });
}

}  // extern "C"
