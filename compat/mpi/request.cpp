// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Requests are begun, tested, waited for and freed. A thread that waits for any of several looks at
// them in turn; each goes on by itself meanwhile.
#include "request.hpp"

#include <chrono>
#include <thread>
#include <vector>

#include "pause.hpp"

namespace tutti_mpi {
namespace {

using Request = MPI_ABI_Request;

// Where threads take turns: the requests that are pending, and for which no thread waits.
// end_abandoned() reads them when the process ends.
std::mutex pending_mutex;
auto& pending = *new std::vector<Request*>;  // under it

void forget_pending(Request& request) {
  if (!world.threads_take_turns) return;
  const std::lock_guard lock(pending_mutex);
  std::erase(pending, &request);
}

// A thread that waits for one request may wait for others of the communicator next: these are
// pending anew once it is back.
class WaitsFor {
 public:
  explicit WaitsFor(Request& request) : comm_(request.operation->comm()) {
    if (!world.threads_take_turns) return;
    const std::lock_guard lock(pending_mutex);
    std::erase(pending, &request);
    ++comm_.waiting;
  }
  ~WaitsFor() {
    if (!world.threads_take_turns) return;
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(pending_mutex);
    --comm_.waiting;
    for (Request* request : pending) {
      if (&request->operation->comm() == &comm_) request->begun = now;
    }
  }
  WaitsFor(const WaitsFor&) = delete;
  WaitsFor& operator=(const WaitsFor&) = delete;

 private:
  Comm& comm_;  // communicator to which the request refers, which is freed later
};

Request& request_of(MPI_Request handle) {
  expect(!is_predefined(handle), MPI_ERR_REQUEST, "it is not a request");
  return *handle;
}

// Keeps how it ended; what the operation still has to do is done.
void complete(Request& request, tutti_status status) {
  forget_pending(request);
  Outcome& outcome = request.outcome;
  outcome = {};
  if (status != TUTTI_OK) {
    outcome.error = class_of(status);
    outcome.text = tutti_last_error();
  }
  try {
    if (status == TUTTI_OK && !request.cancelled) request.operation->end(request.inside, outcome);
  } catch (const Failure& failure) {
    outcome.error = failure.code;
    outcome.text = failure.text;
  }
  outcome.cancelled = request.cancelled;
  tutti_request_free(std::exchange(request.inside, nullptr));
  request.complete = true;
}

void start(Request& request) {
  expect(!request.active, MPI_ERR_REQUEST, "the request is active");
  request.cancelled = false;
  request.complete = false;
  Comm& comm = request.operation->comm();
  tutti_status status;
  {
    const Turn turn(comm.mutex);
    status = request.operation->begin(&request.inside);
  }
  check(status);
  request.active = true;
  if (world.threads_take_turns) {
    request.begun = std::chrono::steady_clock::now();
    const std::lock_guard lock(pending_mutex);
    pending.push_back(&request);
  }
  if (request.inside == nullptr && request.operation->is_done()) complete(request, TUTTI_OK);
}

void start_persistent(MPI_Request request) {
  expect(request_of(request).is_persistent, MPI_ERR_REQUEST, "it is not persistent");
  start(*request);
}

// Whether it is complete; helps it along.
bool look(Request& request) {
  if (request.complete) return true;
  if (request.inside == nullptr) {
    if (!request.operation->is_done()) return false;
    complete(request, TUTTI_OK);
    return true;
  }
  int done = 0;
  const tutti_status status = tutti_request_test(request.inside, &done);
  if (status != TUTTI_OK || done != 0) complete(request, status);
  return request.complete;
}

bool is_active(MPI_Request handle) {
  return handle != MPI_REQUEST_NULL && request_of(handle).active;
}

// The program has heard how it ended: the request is over, or ready to be started again. The error,
// if it ended with one.
int take(MPI_Request* handle, MPI_Status* status, std::string* text) {
  Request& request = request_of(*handle);
  const Outcome outcome = std::move(request.outcome);
  write(outcome, status);
  if (text != nullptr) *text = outcome.text;
  request.outcome = {};
  request.active = false;
  if (!request.is_persistent) {
    delete &request;
    *handle = MPI_REQUEST_NULL;
  }
  return outcome.error;
}
// Gets the status without taking it.
void peek(MPI_Request request, MPI_Status* status) {
  if (!is_active(request)) return write_empty(status);
  write(request->outcome, status);
}
void take_or_fail(MPI_Request* handle, MPI_Status* status) {
  std::string text;
  const int error = take(handle, status, &text);
  if (error != MPI_SUCCESS) fail(error, text);
}

// Waits until `done()` says so, which looks at what it waits for.
template <typename Done>
void wait_until(Done&& done) {
  Pause pause;
  while (!done()) pause.once();
}

void wait(Request& request) {
  if (request.complete) return;
  const WaitsFor waits(request);
  if (request.inside == nullptr) return wait_until([&] { return look(request); });
  complete(request, tutti_request_wait(request.inside));
}

MPI_Status* at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}
void expect_list(int count, const MPI_Request* requests) {
  expect(count >= 0, MPI_ERR_ARG, "count is negative");
  expect(count == 0 || requests != nullptr, MPI_ERR_ARG, "the array of requests is NULL");
}

// Takes several, and says in the statuses how each ended if any failed.
class Taking {
 public:
  explicit Taking(MPI_Status* statuses) : statuses_(statuses) {}
  void take_next(MPI_Request* request) {
    std::string text;
    const bool active = is_active(*request);
    if (!active) write_empty(at(statuses_, taken()));
    errors_.push_back(active ? take(request, at(statuses_, taken()), &text) : MPI_SUCCESS);
    if (errors_.back() != MPI_SUCCESS && failed_++ == 0) first_ = text;
  }
  [[nodiscard]] int taken() const { return static_cast<int>(errors_.size()); }
  void end() {
    if (failed_ == 0) return;
    for (int i = 0; i < taken() && statuses_ != MPI_STATUSES_IGNORE; ++i) {
      statuses_[i].MPI_ERROR = errors_[static_cast<size_t>(i)];
    }
    fail(MPI_ERR_IN_STATUS, first_);
  }

 private:
  MPI_Status* const statuses_;
  std::vector<int> errors_;
  int failed_ = 0;
  std::string first_;
};
// All are complete.
void take_all(int count, MPI_Request* requests, MPI_Status* statuses) {
  Taking taking(statuses);
  for (int i = 0; i < count; ++i) taking.take_next(&requests[i]);
  taking.end();
}

// The index of a request that is complete; kNotYet: none is; MPI_UNDEFINED: none is active.
constexpr int kNotYet = -1;
int look_for_any(int count, const MPI_Request* requests) {
  int found = MPI_UNDEFINED;
  for (int i = 0; i < count; ++i) {
    if (!is_active(requests[i])) continue;
    if (look(*requests[i])) return i;
    found = kNotYet;
  }
  return found;
}
// The one that was found.
void take_any(MPI_Request* requests, int index, MPI_Status* status) {
  if (index == MPI_UNDEFINED) return write_empty(status);
  take_or_fail(&requests[index], status);
}
void test_any(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  *index = look_for_any(count, requests);
  *flag = *index != kNotYet ? 1 : 0;
  if (*flag != 0) return take_any(requests, *index, status);
  *index = MPI_UNDEFINED;
}

bool look_at_all(int count, const MPI_Request* requests) {
  bool all = true;
  for (int i = 0; i < count; ++i) all = (!is_active(requests[i]) || look(*requests[i])) && all;
  return all;
}

void take_some(int count, MPI_Request* requests, int* found, int* indices, MPI_Status* statuses,
               bool waits) {
  expect_list(count, requests);
  *found = MPI_UNDEFINED;
  if (look_for_any(count, requests) == MPI_UNDEFINED) return;
  if (waits) wait_until([&] { return look_for_any(count, requests) != kNotYet; });
  Taking taking(statuses);
  for (int i = 0; i < count; ++i) {
    if (!is_active(requests[i]) || !look(*requests[i])) continue;
    indices[taking.taken()] = i;
    taking.take_next(&requests[i]);
  }
  *found = taking.taken();
  taking.end();
}

// Without a handle any more, it goes on until it is complete: these are looked after.
std::mutex orphans_mutex;
std::vector<Request*> orphans;  // under it

}  // namespace

void free_orphans() {
  const std::lock_guard lock(orphans_mutex);
  std::erase_if(orphans, [](Request* request) {
    if (!look(*request)) return false;
    delete request;
    return true;
  });
}

void end_orphans() {
  for (Request* request : orphans) {
    int cancelled = 0;
    if (request->inside != nullptr) (void)tutti_request_cancel(request->inside, &cancelled);
    request->cancelled = cancelled != 0;
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  Pause pause;
  for (; !orphans.empty() && std::chrono::steady_clock::now() < until; pause.once()) free_orphans();
}

void adopt(MPI_Request request) {
  free_orphans();
  const std::lock_guard lock(orphans_mutex);
  orphans.push_back(request);
}

void end_abandoned() {
  // Peers may be late by less, and then a request is complete soon without its rank.
  constexpr std::chrono::seconds kAbandonedAfter{3};
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(pending_mutex);
  for (const Request* request : pending) {
    const Comm& comm = request->operation->comm();
    if (comm.waiting != 0 || now - request->begun < kAbandonedAfter) continue;
    if (tutti_comm_state(comm.inside) != TUTTI_OK) continue;
    const std::string text = "rank " + std::to_string(comm.rank) + " ends while " +
                             request->function +
                             " that it has called is pending, and does not wait for it";
    say(text);
    tutti_comm_abort(comm.inside, text.c_str());
  }
}

void run(Operation& operation, MPI_Status* status) {
  Comm& comm = operation.comm();
  tutti_request_t request = nullptr;
  if (!world.threads || world.threads_take_turns) [[likely]] {
    const Turn turn(comm.mutex);
    check(operation.begin(nullptr));
  } else {
    {
      const Turn turn(comm.mutex);
      check(operation.begin(&request));
    }
    if (request != nullptr) {
      const tutti_status ended = tutti_request_wait(request);
      if (ended != TUTTI_OK) tutti_request_free(request);
      check(ended);
    }
  }
  Outcome outcome;
  operation.end(request, outcome);
  tutti_request_free(request);
  if (status != MPI_STATUS_IGNORE) write(outcome, status);
}

MPI_Request started(std::unique_ptr<Operation> operation, const char* function) {
  auto request = std::make_unique<Request>();
  request->function = function;
  request->operation = std::move(operation);
  start(*request);
  return request.release();
}
MPI_Request persistent(std::unique_ptr<Operation> operation) {
  auto request = std::make_unique<Request>();
  request->operation = std::move(operation);
  request->is_persistent = true;
  return request.release();
}

}  // namespace tutti_mpi

using namespace tutti_mpi;

TUTTI_MPI_DO(Start, (MPI_Request * request), start_persistent(*request))
TUTTI_MPI_DO(Startall, (int count, MPI_Request requests[]), {
  for (int i = 0; i < count; ++i) start_persistent(requests[i]);
})
TUTTI_MPI_DO(Wait, (MPI_Request * request, MPI_Status* status), {
  if (!is_active(*request)) return write_empty(status);
  wait(**request);
  take_or_fail(request, status);
})
TUTTI_MPI_DO(Test, (MPI_Request * request, int* flag, MPI_Status* status), {
  int index = 0;
  test_any(1, request, &index, flag, status);
})
TUTTI_MPI_DO(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]), {
  expect_list(count, requests);
  for (int i = 0; i < count; ++i) {
    if (is_active(requests[i])) wait(*requests[i]);
  }
  take_all(count, requests, statuses);
})
TUTTI_MPI_DO(Testall, (int count, MPI_Request requests[], int* flag, MPI_Status statuses[]), {
  expect_list(count, requests);
  *flag = look_at_all(count, requests) ? 1 : 0;
  if (*flag != 0) take_all(count, requests, statuses);
})
TUTTI_MPI_DO(Waitany, (int count, MPI_Request requests[], int* index, MPI_Status* status), {
  expect_list(count, requests);
  wait_until([&] { return (*index = look_for_any(count, requests)) != kNotYet; });
  take_any(requests, *index, status);
})
TUTTI_MPI_DO(Testany,
             (int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status), {
               expect_list(count, requests);
               test_any(count, requests, index, flag, status);
             })
TUTTI_MPI_DO(Waitsome,
             (int count, MPI_Request requests[], int* found, int indices[], MPI_Status statuses[]),
             take_some(count, requests, found, indices, statuses, true))
TUTTI_MPI_DO(Testsome,
             (int count, MPI_Request requests[], int* found, int indices[], MPI_Status statuses[]),
             take_some(count, requests, found, indices, statuses, false))
TUTTI_MPI_DO(Request_get_status, (MPI_Request request, int* flag, MPI_Status* status), {
  *flag = !is_active(request) || look(*request) ? 1 : 0;
  if (*flag != 0) peek(request, status);
})
TUTTI_MPI_DO(Request_get_status_any,
             (int count, const MPI_Request requests[], int* index, int* flag, MPI_Status* status), {
               expect_list(count, requests);
               *index = look_for_any(count, requests);
               *flag = *index != kNotYet ? 1 : 0;
               if (*flag == 0) *index = MPI_UNDEFINED;
               if (*flag != 0) peek(*index >= 0 ? requests[*index] : MPI_REQUEST_NULL, status);
             })
TUTTI_MPI_DO(Request_get_status_all,
             (int count, const MPI_Request requests[], int* flag, MPI_Status statuses[]), {
               expect_list(count, requests);
               *flag = look_at_all(count, requests) ? 1 : 0;
               for (int i = 0; i < count && *flag != 0; ++i) {
                 peek(requests[i], at(statuses, i));
               }
             })
TUTTI_MPI_DO(Request_get_status_some,
             (int count, const MPI_Request requests[], int* found, int indices[],
              MPI_Status statuses[]),
             {
               expect_list(count, requests);
               *found = MPI_UNDEFINED;
               if (look_for_any(count, requests) == MPI_UNDEFINED) return;
               *found = 0;
               for (int i = 0; i < count; ++i) {
                 if (!is_active(requests[i]) || !look(*requests[i])) continue;
                 write(requests[i]->outcome, at(statuses, *found));
                 indices[(*found)++] = i;
               }
             })
TUTTI_MPI_DO(Request_free, (MPI_Request * handle), {
  Request& request = request_of(*handle);
  if (request.active && !look(request)) {
    adopt(&request);
  } else {
    delete &request;
  }
  *handle = MPI_REQUEST_NULL;
})
// Only a receive that no message has met can be cancelled; anything else goes on.
TUTTI_MPI_DO(Cancel, (MPI_Request * handle), {
  Request& request = request_of(*handle);
  if (request.complete) return;
  int cancelled = 0;
  if (request.inside != nullptr) check(tutti_request_cancel(request.inside, &cancelled));
  if (request.inside == nullptr) cancelled = request.operation->cancel() ? 1 : 0;
  request.cancelled = cancelled != 0;
})
