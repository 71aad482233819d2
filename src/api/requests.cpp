// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "api/requests.hpp"

#include <mutex>
#include <vector>

#include "api/groups.hpp"

namespace tutti {
namespace {

using Kind = tutti_request::Kind;

// Guards the `persistent` of all communicators, as it may outlive any of them.
BriefLock& lock_of_persistent() {
  static constinit BriefLock lock;
  return lock;
}

// Not inlined, as is forget(): calls that are made once would save registers for it.
[[gnu::noinline, gnu::cold]] void keep(tutti_request& request) {
  const std::lock_guard lock(lock_of_persistent());
  request.comm.load()->persistent.insert(&request);
}

// Unless its communicator is gone.
[[gnu::noinline, gnu::cold]] void forget(tutti_request& request) {
  const std::lock_guard lock(lock_of_persistent());
  if (tutti_comm* const comm = request.comm.load()) comm->persistent.erase(&request);
}

Status refuse_bereft(std::string_view function) {
  return Status::format(Code::kInvalidUsage,
                        "{}: the communicator of this persistent request is destroyed "
                        "(tutti_comm_destroy): it can be tested, waited for and freed",
                        function);
}

bool is_bereft(const tutti_request& request) {
  return request.comm.load(std::memory_order_relaxed) == nullptr;
}

bool active(const tutti_request& request) { return request.started && !request.inside->done(); }

// With its `starting` held, so that its communicator stays.
Status start(tutti_request& request) {
  if (is_bereft(request)) return refuse_bereft("tutti_request_start");
  if (groups_or_views_exist()) [[unlikely]]
    TUTTI_RETURN_IF_ERROR(drain_views(request));
  request.inside->await_visitors();
  const bool before = std::exchange(request.started, true);  // the completion function may ask
  Status status;
  try {
    status = request.inside->start(StartedFor::kWorkers);
  } catch (...) {
    status = caught_exception();
  }
  if (!status.ok()) {
    request.started = before;
    request.inside->did_not_start();
  }
  return status;
}

// In a forked child. Anything on a device stays until the child ends: the driver's state is the
// parent's, and releasing an event or memory would call the driver.
void free_copy(tutti_request_t request) {
  // Not freed, yet reachable, so no leak is reported.
  static auto& kept = *new std::vector<std::unique_ptr<DeviceOperation>>;
  auto* const operation = std::get_if<std::unique_ptr<DeviceOperation>>(&request->what);
  if (operation != nullptr) kept.push_back(std::move(*operation));
  delete request;
}

[[gnu::noinline, gnu::cold]] Status refuse_unstarted(tutti_request_t request,
                                                     std::string_view function) {
  TUTTI_RETURN_IF_ERROR(expect_not_null(request, function, "request"));
  if (request->kind == Kind::kRecorded) {
    return Status::format(Code::kInvalidUsage,
                          "{}: this request belongs to a group that has not ended "
                          "(tutti_group_end)",
                          function);
  }
  return Status::format(Code::kInvalidUsage,
                        "{}: this persistent request was never started (tutti_request_start)",
                        function);
}

Status expect_started(tutti_request_t request, std::string_view function) {
  if (request == nullptr || !request->started) [[unlikely]]
    return refuse_unstarted(request, function);
  return {};
}

// The functions that make requests say of a null `request` which of them it was.
[[gnu::noinline, gnu::cold]] Status refuse_to_hand_out(const tutti_request& made) {
  std::string_view name = "...";  // on a view
  if (const auto* const operation = std::get_if<Operation>(&made.what)) {
    name = collective_name(operation->call().collective);
  } else if (const auto* const message = std::get_if<Message>(&made.what)) {
    name = message->sends() ? "send" : "recv";
  }
  const bool persistent = made.kind == Kind::kPersistent;
  return Status::format(Code::kInvalidArgument, "tutti_{}{}{}: request is NULL",
                        persistent ? "" : "i", name, persistent ? "_init" : "");
}

// A request is complete once its completion function has returned. Inside that function a wait
// would never end, and a free would take the request away from the thread that completes it.
[[gnu::noinline, gnu::cold]] Status refuse_inside(std::string_view function) {
  return Status::format(Code::kInvalidUsage,
                        "{}: called in the completion function of this very request "
                        "(tutti_request_on_complete): call it after that",
                        function);
}

}  // namespace

Status hand_out(std::unique_ptr<tutti_request> made, tutti_request_t* request) {
  if (request == nullptr) [[unlikely]]
    return refuse_to_hand_out(*made);
  if (made->kind == Kind::kPersistent) [[unlikely]] {
    keep(*made);
  } else {
    TUTTI_RETURN_IF_ERROR(made->inside->start(StartedFor::kWorkers));
    made->started = true;
  }
  *request = made.release();
  return {};
}

Status hand_out_in_group_or_on_view(std::unique_ptr<tutti_request> made, tutti_request_t* request) {
  if (request == nullptr || made->kind == Kind::kPersistent || !in_group()) {
    return hand_out(std::move(made), request);
  }
  TUTTI_RETURN_IF_ERROR(record(*made));
  *request = made.release();
  return {};
}

void detach_requests(tutti_comm& comm) {
  const auto detached = [](tutti_request* request) {
    const std::unique_lock lock(request->starting, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    request->comm.store(nullptr, std::memory_order_relaxed);
    return true;
  };
  // Not with the lock of all: a start may run functions that free other requests.
  yield_until(kNever, [&] {
    const std::lock_guard lock(lock_of_persistent());
    std::erase_if(comm.persistent, detached);
    return comm.persistent.empty();
  });
}

}  // namespace tutti

using namespace tutti;

extern "C" {

tutti_status tutti_request_test(tutti_request_t request, int* done) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_started(request, "tutti_request_test"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(done, "tutti_request_test", "done"));
    if (!request->inside->done()) request->inside->help();
    *done = request->inside->done() ? 1 : 0;
    return *done == 1 ? request->inside->status() : Status();
  });
}

tutti_status tutti_request_wait(tutti_request_t request) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_started(request, "tutti_request_wait"));
    if (request->inside->in_its_function()) [[unlikely]]
      return refuse_inside("tutti_request_wait");
    return request->inside->wait(kNever);
  });
}

tutti_status tutti_request_wait_for(tutti_request_t request, int timeout_ms) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_started(request, "tutti_request_wait_for"));
    if (request->inside->in_its_function()) [[unlikely]]
      return refuse_inside("tutti_request_wait_for");
    if (timeout_ms < 0) {
      return Status::format(Code::kInvalidArgument,
                            "tutti_request_wait_for: timeout_ms {}: expected 0 or more",
                            timeout_ms);
    }
    return request->inside->wait(timeout_ms);
  });
}

tutti_status tutti_request_start(tutti_request_t request) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_not_null(request, "tutti_request_start", "request"));
    if (request->kind != Kind::kPersistent) {
      return {Code::kInvalidUsage,
              "tutti_request_start: the request is not persistent (made by tutti_*_init)"};
    }
    const std::unique_lock starting(request->starting, std::try_to_lock);
    if (!starting.owns_lock()) [[unlikely]] {
      return {Code::kInvalidUsage,
              "tutti_request_start: another thread is starting the request, or destroys its "
              "communicator"};
    }
    if (active(*request)) {
      return {Code::kInvalidUsage, "tutti_request_start: the request is still active"};
    }
    return start(*request);
  });
}

tutti_status tutti_request_on_complete(tutti_request_t request, tutti_completion_fn function,
                                       void* context) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_not_null(request, "tutti_request_on_complete", "request"));
    if (is_bereft(*request)) return refuse_bereft("tutti_request_on_complete");
    request->inside->on_complete(function, context);
    return {};
  });
}

tutti_status tutti_request_free(tutti_request_t request) {
  if (request == nullptr) return TUTTI_OK;
  return guard_anywhere([&]() -> Status {
    if (is_forked()) {
      free_copy(request);
      return {};
    }
    if (request->inside->in_its_function()) [[unlikely]]
      return refuse_inside("tutti_request_free");
    if (request->kind != Kind::kOnce) [[unlikely]] {
      if (request->kind == Kind::kRecorded) {
        return {Code::kInvalidUsage,
                "tutti_request_free: this request belongs to a group that has not ended "
                "(tutti_group_end)"};
      }
      forget(*request);
    }
    const std::unique_ptr<tutti_request> freed(request);
    if (!active(*freed)) return {};
    return freed->inside->wait(kNever);
  });
}

tutti_status tutti_request_recv_info(tutti_request_t request, tutti_recv_info* info) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_started(request, "tutti_request_recv_info"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(info, "tutti_request_recv_info", "info"));
    const auto* const message = std::get_if<Message>(&request->what);
    const auto* const operation = std::get_if<std::unique_ptr<DeviceOperation>>(&request->what);
    const tutti_recv_info* received = nullptr;
    if (message != nullptr && !message->sends() && message->done()) received = &message->received();
    if (operation != nullptr) received = (*operation)->received();
    if (received == nullptr) {
      return {Code::kInvalidUsage,
              "tutti_request_recv_info: the request is not a receive that is complete"};
    }
    *info = *received;
    return {};
  });
}

tutti_status tutti_request_cancel(tutti_request_t request, int* cancelled) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_started(request, "tutti_request_cancel"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(cancelled, "tutti_request_cancel", "cancelled"));
    auto* const message = std::get_if<Message>(&request->what);
    *cancelled = message != nullptr && message->cancel() ? 1 : 0;
    return {};
  });
}

tutti_status tutti_request_event(tutti_request_t request, void** event) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_started(request, "tutti_request_event"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(event, "tutti_request_event", "event"));
    if (is_bereft(*request)) return refuse_bereft("tutti_request_event");
    const auto* const operation = std::get_if<std::unique_ptr<DeviceOperation>>(&request->what);
    if (operation == nullptr) {
      return {Code::kInvalidUsage,
              "tutti_request_event: the request is of no call on a view (tutti_comm_view)"};
    }
    Result<void*> made = (*operation)->event();
    if (!made.ok()) return made.status().with_context("tutti_request_event");
    *event = *made;
    return {};
  });
}

}  // extern "C"
