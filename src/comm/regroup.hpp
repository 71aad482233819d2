// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Agreement of the ranks that are left of a communicator on which these are.
//
// Ranks that want to go on after a failure come to a round, each with a few bytes. A round is over
// when all take part that have neither died nor given the communicator up. Then one place decides
// which ranks these are, so all see the same ranks and bytes, even if one dies meanwhile. On one
// host that place is the shared memory. Any of the ranks may write the decision there, and another
// one takes over if it dies on the way. Across hosts it is the service that keeps the ranks in
// touch; if its process has died, the ranks cannot regroup.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "bootstrap/unique_id.hpp"
#include "core/exchange.hpp"
#include "core/wait.hpp"
#include "transports/transport.hpp"

namespace tutti {

// Used by one thread at a time.
class Regroup {
 public:
  using Contributions = std::map<int, std::vector<std::byte>>;  // contributions by rank

  virtual ~Regroup() = default;
  // A round. After an error, such as the deadline, this rank comes to no more rounds. The others
  // wait for it in vain until it gives up.
  virtual Result<Contributions> round(std::span<const std::byte> mine, int64_t deadline_ms) = 0;
  // Nobody is to wait for this rank any more.
  virtual void give_up() = 0;
  // The reporter of long rounds from now on; null: there is none.
  void tell(SlowWait* slow) { slow_ = slow; }

 protected:
  void report() const {
    if (slow_ != nullptr) slow_->on_slow_round();
  }

 private:
  SlowWait* slow_ = nullptr;
};

// Over the shared memory of one host. `is_gone` says whether a rank has died or left. The board's
// memory outlives it.
std::unique_ptr<Regroup> regroup_in_memory(int rank, RegroupBoard board,
                                           std::function<bool(int rank)> is_gone);

// Regroups over the control connection, which outlives it.
class ControlRegroup final : public Regroup {
 public:
  explicit ControlRegroup(Control& control) : control_(control) {}
  Result<Contributions> round(std::span<const std::byte> mine, int64_t deadline_ms) override;
  void give_up() override { control_.leave(); }
  // Takes news of any kind from the control connection; any thread.
  void heard(const ControlNews& news);

 private:
  Control& control_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Contributions to the round that is being told. mutex_ guards all from here on.
  Contributions coming_;
  Contributions last_;  // contributions to the last round
  bool over_ = true;    // no round is under way
  Status withdrawal_;   // whom the round lacked that was asked for last
};

// The ranks that go on, in rank order, and where they meet.
struct Survivors {
  std::vector<int> ranks;
  UniqueId id;
};
// Collective over those who are left. The first of them makes the id, in as many rounds as it takes
// for one of them to be the first twice.
Result<Survivors> agree_on_survivors(Regroup& regroup, int rank, int64_t deadline_ms);

}  // namespace tutti
