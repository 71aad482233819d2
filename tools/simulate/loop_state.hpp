// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The state of a simulation while it runs: streams of steps, messages under way, and what is next.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "algorithms/messages.hpp"
#include "tools/simulate/entries.hpp"
#include "tools/simulate/loop.hpp"
#include "tools/simulate/processors.hpp"

namespace tutti::simulate {

enum class EventKind : uint8_t { kRun, kHop, kArrive };

struct Event {
  double at;
  uint64_t order;  // of events at equal times: the first made comes first
  uint32_t index;  // number of a stream, or of a message
  EventKind kind;
  friend bool operator>(const Event& a, const Event& b) {
    return a.at != b.at ? a.at > b.at : a.order > b.order;
  }
};

struct Message {
  int source = 0;
  int target = 0;
  int stream = 0;
  int node = 0;        // where its head is
  bool asked = false;  // the source waits at a fence until it has left
  uint64_t bytes = 0;
  double tail_s = 0;  // when its end is there
  Cause cause = {};   // of its time of sending
};

enum class Blocked : uint8_t { kNo, kRecv, kFence, kAwait, kAfter, kDone };

struct Stream {
  const std::vector<Phase>* phases = nullptr;
  uint32_t phase = 0;  // counted over all calls
  uint32_t op = 0;
  Blocked blocked = Blocked::kNo;
  int peer = -1;        // rank for which it waits
  uint32_t unsent = 0;  // messages that a fence waits for
  double sent_s = 0;    // when the last of them has left
  double time_s = 0;    // how far it is
  double ended_s = 0;   // when its last phase ended
  double waited_s = 0;
  double worked_s = 0;  // since its last wait
  Cause cause;          // of the stream's present time
};

class Loop {
 public:
  Loop(const Job& job, Network& network, const NetworkFigures& figures, const Circumstances& c)
      : job_(job),
        network_(network),
        given_(c),
        alpha_s_(figures.message_s),
        line_byte_s_(figures.line_byte_s),
        width_(job.grouped() ? kStreams : kInGroup),
        processors_(c.machine.cores) {}
  Result<Outcome> run();

 private:
  using Group = std::unordered_map<uint32_t, Entries>;  // entries by phase

  void start();
  void schedule(EventKind kind, uint32_t index, double at) {
    events_.push({at, order_++, index, kind});
  }
  [[nodiscard]] Stream& stream(int rank, int which) {
    return streams_[Job::rank_at(rank) * width_ + static_cast<size_t>(which)];
  }
  void advance(uint32_t index, double now);
  [[nodiscard]] bool others_go_on(int rank, int which);
  [[nodiscard]] bool step(int rank, int which, Stream& s, const Phase& phase);
  [[nodiscard]] bool begin_phase(int rank, int which, Stream& s);
  void end_phase(int rank, int which, Stream& s);
  void send(int rank, int which, Stream& s, const Phase& phase, const Op& op);
  [[nodiscard]] bool receive(int rank, int which, Stream& s, int source, const Op& op);
  [[nodiscard]] bool await(int rank, Stream& s, const Phase& phase, const Op& op);
  void publish(int rank, Stream& s, const Phase& phase, uint32_t tick);
  [[nodiscard]] Entries& entries_of(int rank, uint32_t phase);
  void work(int rank, Stream& s, double seconds);
  void wait_until(int rank, Stream& s, double at, int peer, const Cause& cause, double resume_s);
  void hop(uint32_t index, double now);
  void arrive(uint32_t index, double now);
  uint32_t new_message(const Message& message);
  [[nodiscard]] double overhead_s(bool within) const {
    const double between = given_.machine.cores > 0 ? given_.machine.message_s : alpha_s_ / 2;
    return (within ? job_.within.message_s : between) / 2;
  }
  // How long a message to another host takes to leave.
  [[nodiscard]] double leaving_s(uint64_t bytes) const {
    if (!given_.times.empty()) return given_.times.beyond_s(bytes, line_byte_s_);
    return bytes > kUnaskedBytes ? 2 * alpha_s_ : 0;
  }
  // The cost of going on after a wait for another rank.
  [[nodiscard]] double turn_s(bool within) const {
    const auto cores = static_cast<size_t>(given_.machine.cores);
    if (cores == 0 || job_.roles.size() <= cores) return 0;
    return within ? job_.within.turn_s : given_.machine.turn_s;
  }
  [[nodiscard]] bool same_host(int a, int b) const {
    return job_.hosts.host(a) == job_.hosts.host(b);
  }
  static uint64_t pair_of(int source, int target, int which) {
    return static_cast<uint64_t>(source) << 34 | static_cast<uint64_t>(target) << 2 |
           static_cast<uint64_t>(which);
  }
  void tell() const;
  Status unfinished() const;
  void finish();

  const Job& job_;
  Network& network_;
  const Circumstances& given_;
  const double alpha_s_;
  const double line_byte_s_;
  const uint32_t width_;  // streams of a rank
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  uint64_t order_ = 0;
  uint64_t steps_ = 0;  // of all ranks and calls
  uint64_t steps_done_ = 0;
  std::vector<Stream> streams_;
  std::vector<double> factors_;  // by rank
  std::vector<double> busy_s_;   // time by rank until which it does something
  Processors processors_;
  std::vector<Group> groups_;  // by host
  std::deque<Message> messages_;
  std::vector<uint32_t> free_messages_;
  std::unordered_map<uint64_t, uint32_t> arrived_;  // messages that nobody has received yet
  Outcome outcome_;
  Status error_;
};

}  // namespace tutti::simulate
