// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Calls that have a match_id, which ranks may make in different orders.
//
// Rounds. The ranks tell one another which ids they have called, by an allgather of a few of them.
// Calls that all ranks have told begin right after that round. Their order is the same everywhere,
// because all see the same rounds. A rank is in a round while it has calls that have not begun, and
// only then: without it none of the others' can begin. So the usual round, in which all ranks tell
// the same, costs a small allgather. Ranks that have told different ids make further rounds, slower
// and slower while nobody has news.
//
// Communicator. Rounds and the calls that they begin go over one of their own, so that calls
// without an id keep the program's order. The first call makes it, by an id that rank 0 sends to
// the others: making it must not wait in the program's thread.
//
// Drivers. Threads drive the rounds one at a time. A thread that starts a call looks once, one that
// waits for a call stays. The matcher's own thread does it when nobody else does, as soon as a
// round is complete.
#pragma once

#include <oneapi/ccl/detail/functions.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct tutti_oneccl_call {
  enum class Stage : uint8_t { kHeld, kBegun, kFailed };

  tutti_oneccl_matcher* const matcher;
  const std::string match_id;
  const uint64_t number;  // of the match_id, as ranks tell it
  const tutti_oneccl_begin_fn begin;
  void* const context;
  const std::chrono::steady_clock::time_point since;

  // Under the matcher's mutex; `stage` is written last and may be read without it.
  std::atomic<Stage> stage{Stage::kHeld};
  tutti_request_t request = nullptr;
  tutti_status status = TUTTI_OK;
  std::string error{};
};

struct tutti_oneccl_matcher {
 public:
  explicit tutti_oneccl_matcher(tutti_comm_t comm);
  ~tutti_oneccl_matcher();

  tutti_status start(const char* match_id, tutti_oneccl_begin_fn begin, void* context,
                     tutti_oneccl_call** call);
  tutti_status test(tutti_oneccl_call& call, bool in_group, bool& done);
  tutti_status wait(tutti_oneccl_call& call, bool in_group);

 private:
  using Call = tutti_oneccl_call;
  using Lock = std::unique_lock<std::mutex>;

  // The ids that a rank tells in a round: as many as a small allgather carries best.
  struct Told {
    uint64_t count = 0;
    std::array<uint64_t, 6> numbers{};
    friend bool operator==(const Told&, const Told&) = default;
  };

  // All but run() and wake() under the mutex.
  void invite();
  void join(Lock& lock);
  void run();
  void wake();
  // Leaves what there is to do to the matcher's thread.
  void leave();

  // Begins a round, or takes what it has told. False if there is nothing to do now; with patience,
  // waits instead for what there is to wait for, without the mutex.
  bool step(Lock& lock, bool patient);
  [[nodiscard]] bool pausing() const;
  [[nodiscard]] tutti_status begin_round();
  void take_round();
  void count(uint64_t number, size_t rank);
  void begin_call(uint64_t number);
  void check_time();
  // Ends all calls that have not begun, and breaks the communicator.
  void fail(tutti_status status, const std::string& text);
  tutti_status ended(tutti_status status);

  const tutti_comm_t comm_;
  int rank_ = 0;
  size_t ranks_ = 0;
  int timeout_ms_ = -1;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Call*> held_;  // in the order of the program
  size_t told_ = 0;         // how many of the first of them
  // Per id, how many calls each rank has told that not all have.
  std::map<uint64_t, std::vector<uint32_t>> ahead_;
  tutti_request_t round_ = nullptr;
  std::atomic<bool> driven_{false};    // somebody waits for the round, without the mutex
  std::atomic<bool> complete_{false};  // the round is, or will be in a moment
  Told mine_;
  std::vector<Told> all_;
  std::chrono::microseconds pause_{0};  // after a round without news
  std::chrono::steady_clock::time_point resume_;
  tutti_comm_t own_ = nullptr;
  tutti_status broken_ = TUTTI_OK;
  std::string cause_;
  bool ends_ = false;

  tutti_unique_id id_{};
  std::vector<tutti_request_t> invitations_;
  std::atomic<uint32_t> signals_{0};
  std::thread thread_;
};
