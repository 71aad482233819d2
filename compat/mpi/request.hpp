// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Operations, which a blocking function runs itself, and requests, which stand for one that goes
// on.
#pragma once

#include <chrono>
#include <memory>

#include "communicator.hpp"

namespace tutti_mpi {

// How an operation ended; of a receive with what it got.
struct Outcome {
  int source = MPI_ANY_SOURCE;
  int tag = MPI_ANY_TAG;
  int error = MPI_SUCCESS;
  bool cancelled = false;
  size_t bytes = 0;
  std::string text{};  // of the error
};
void write(const Outcome& outcome, MPI_Status* status);
// Writes the status of a request that was not active.
void write_empty(MPI_Status* status);

class Operation {
 public:
  explicit Operation(Comm& comm) : comm_(comm) {}
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // Begins it; *request stays null if it is complete. Null `request`: returns once it is complete.
  virtual tutti_status begin(tutti_request_t* request) = 0;
  // The operation is complete: puts its results where the program wants them. `request` is the one
  // that begin() gave.
  virtual void end(tutti_request_t /*request*/, Outcome& /*outcome*/) {}
  // Whether a request whose *request stayed null is complete, as most of these are at once.
  [[nodiscard]] virtual bool is_done() { return true; }
  virtual bool cancel() { return false; }
  [[nodiscard]] Comm& comm() const { return *comm_; }

 protected:
  Ref<Comm> comm_;
};

// A call of the library in Operation::begin(), blocking or begun.
#define TUTTI_MPI_CALL(name, ...) \
  (request == nullptr ? tutti_##name(__VA_ARGS__) : tutti_i##name(__VA_ARGS__, request))

// Begins and ends it.
void run(Operation& operation, MPI_Status* status);

// A request for an operation that has begun, or that is to be begun by MPI_Start.
MPI_Request started(std::unique_ptr<Operation> operation, const char* function);
MPI_Request persistent(std::unique_ptr<Operation> operation);

// Requests that are freed before they are complete go on; the second forgets those that are. The
// third is for the end, when all ranks are there. A receive that no message has met meets none. Of
// others no rank can see whether they come to an end: they get a second for it.
void adopt(MPI_Request request);
void free_orphans();
void end_orphans();
// Where threads take turns: fails the communicator of each request that has been pending for some
// seconds, while no thread was in MPI_Wait for any request of it. JAX calls nothing else to learn
// of its end.
void end_abandoned();

// The forms of a function whose operation is of the class T.
template <typename T, typename... Arguments>
int blocking(const char* function, MPI_Comm comm, const Arguments&... arguments) {
  return enter(function, comm, [&] {
    T operation(find(comm), arguments...);
    run(operation, MPI_STATUS_IGNORE);
  });
}
template <typename T, typename... Arguments>
int immediate(const char* function, MPI_Comm comm, MPI_Request* request,
              const Arguments&... arguments) {
  return enter(function, comm, [&] {
    expect_argument(request, "request");
    *request = started(std::make_unique<T>(find(comm), arguments...), function);
  });
}
template <typename T, typename... Arguments>
int prepared(const char* function, MPI_Comm comm, MPI_Request* request,
             const Arguments&... arguments) {
  return enter(function, comm, [&] {
    expect_argument(request, "request");
    *request = persistent(std::make_unique<T>(find(comm), arguments...));
  });
}

}  // namespace tutti_mpi

struct MPI_ABI_Request {
  std::unique_ptr<tutti_mpi::Operation> operation;
  bool is_persistent = false;
  bool active = false;
  bool cancelled = false;
  bool complete = false;                          // with a known outcome
  const char* function = "MPI_Start";             // function that began it
  std::chrono::steady_clock::time_point begun{};  // unless a thread waits for it
  tutti_request_t inside = nullptr;
  tutti_mpi::Outcome outcome{};
};
