// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Meetings of thousands of ranks in one thread: the real states of service, relays and members, on
// hosts that are simulated. A process takes as long as its code takes here, one at a time. Lines
// between hosts have a latency and a rate, which all processes of a host share, and sockets take so
// many bytes that nobody has read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bootstrap/meeting_state.hpp"
#include "bootstrap/member_state.hpp"
#include "bootstrap/relay.hpp"

namespace tutti_test {

class SimulatedProcess;

// The clock that all share, in nanoseconds.
inline int64_t simulated_ns = 0;
inline int64_t simulated_ms() { return simulated_ns / 1'000'000; }

struct SimulatedNetwork {
  int64_t latency_ns = 20'000;
  double bytes_per_ns = 1.25;  // 10 Gbit/s
  int64_t local_latency_ns = 5'000;
  double local_bytes_per_ns = 2;
  size_t unread = 256 << 10;  // bytes that a socket takes
};

struct SimulatedHost {
  int64_t line_free_ns = 0;
};

// One end of a connection.
struct SimulatedEnd {
  SimulatedProcess* process = nullptr;
  SimulatedEnd* other = nullptr;
  std::vector<std::byte> arrived;
  size_t under_way = 0;  // sent by this end, not read by the other
  int64_t last_arrival_ns = 0;
  bool closed = false;        // by this end
  bool closing_seen = false;  // the other end has closed, and all before has arrived
};

class Simulation {
 public:
  explicit Simulation(const SimulatedNetwork& network = {}) : network_(network) {
    simulated_ns = 0;
  }
  Simulation(const Simulation&) = delete;

  SimulatedEnd* connect(SimulatedProcess& from, SimulatedProcess& to);
  // How many of the bytes the socket took.
  size_t send(SimulatedEnd& from, std::span<const std::byte> bytes);
  std::vector<std::byte> receive(SimulatedEnd& at, size_t most);
  void close(SimulatedEnd& end);
  void wake(SimulatedProcess& process, int64_t at_ns);
  // Until the clock has got there.
  void run(int64_t until_ns);

 private:
  struct Event {
    int64_t at_ns;
    uint64_t number;
    std::function<void()> what;
    bool operator>(const Event& other) const {
      return std::pair(at_ns, number) > std::pair(other.at_ns, other.number);
    }
  };
  void at(int64_t at_ns, std::function<void()> what) {
    events_.push({std::max(at_ns, simulated_ns), next_number_++, std::move(what)});
  }
  int64_t arrival(SimulatedEnd& from, size_t bytes);

  const SimulatedNetwork network_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::deque<SimulatedEnd> ends_;
  uint64_t next_number_ = 0;
};

class SimulatedProcess {
 public:
  SimulatedProcess(Simulation& simulation, SimulatedHost& host)
      : simulation_(simulation), host_(host) {}
  virtual ~SimulatedProcess() = default;
  SimulatedProcess(const SimulatedProcess&) = delete;

  // Somebody has connected.
  virtual void accept(SimulatedEnd&) {}
  // As the system tells it to others of its host.
  [[nodiscard]] virtual int pid() const { return 0; }
  // Ends without a word.
  void die();
  [[nodiscard]] double processor_s() const { return static_cast<double>(processor_ns_) * 1e-9; }
  [[nodiscard]] uint64_t sent_bytes() const { return sent_bytes_; }
  [[nodiscard]] const SimulatedHost& host() const { return host_; }

 protected:
  friend class Simulation;
  // Does what there is to do since it was last called.
  virtual void turn() = 0;
  static int64_t thread_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }
  [[nodiscard]] int64_t present_ns() const {
    return turning_ ? simulated_ns + thread_ns() - begun_ns_ : simulated_ns;
  }
  void take_turn();

  Simulation& simulation_;
  SimulatedHost& host_;
  std::vector<SimulatedEnd*> ends_;  // open ones
  bool dead_ = false;

 private:
  bool turning_ = false;
  int64_t begun_ns_ = 0;
  int64_t free_ns_ = 0;  // busy until then
  int64_t woken_at_ns_ = INT64_MAX;
  int64_t processor_ns_ = 0;
  uint64_t sent_bytes_ = 0;
};

// A service: a meeting or a relay, and its loop.
class SimulatedService final : public SimulatedProcess {
 public:
  SimulatedService(Simulation& simulation, SimulatedHost& host,
                   std::unique_ptr<tutti::bootstrap::Hub> hub)
      : SimulatedProcess(simulation, host), hub_(std::move(hub)) {}
  void accept(SimulatedEnd& end) override { waiting_.push_back(&end); }
  // The connection of a relay to the meeting.
  void attach(tutti::bootstrap::Link& link, SimulatedEnd& end) { ends_of_[&link] = &end; }
  [[nodiscard]] size_t most_connections() const { return most_connections_; }
  [[nodiscard]] bool finished() const { return hub_->finished(); }
  int process = -1;  // in which it runs, as pid() gives it; -1: in one of its own

 private:
  void turn() override;
  void read(tutti::bootstrap::Link& link, SimulatedEnd& end);
  void write(tutti::bootstrap::Link& link, SimulatedEnd& end);
  void forget();

  const std::unique_ptr<tutti::bootstrap::Hub> hub_;
  std::deque<SimulatedEnd*> waiting_;  // to be accepted
  std::unordered_map<tutti::bootstrap::Link*, SimulatedEnd*> ends_of_;
  size_t most_connections_ = 0;
};

// A rank that meets, takes part in rounds, and stays until it is told to leave.
class SimulatedRank final : public SimulatedProcess {
 public:
  using Contribution = std::function<std::vector<std::byte>(int rank, int round)>;
  SimulatedRank(Simulation& simulation, SimulatedHost& host, const tutti::UniqueId& id, int rank,
                int ranks, int rounds, const Contribution& contribution)
      : SimulatedProcess(simulation, host),
        state_(id),
        rank_(rank),
        ranks_(ranks),
        rounds_(rounds),
        contribution_(contribution) {}
  void join(SimulatedProcess& service) {
    end_ = simulation_.connect(*this, service);
    simulation_.wake(*this, simulated_ns);
  }
  void leave() {
    state_.leave();
    simulation_.wake(*this, simulated_ns);
  }
  [[nodiscard]] int pid() const override { return 1000 + rank_; }
  // The outcome of the last round.
  [[nodiscard]] const tutti::bootstrap::Contributions& outcome() const { return outcome_; }
  [[nodiscard]] int rounds_done() const { return rounds_done_; }
  [[nodiscard]] bool stayed() const { return stayed_; }
  [[nodiscard]] bool hung_up_on() const { return end_->closing_seen; }
  [[nodiscard]] int64_t stayed_at_ns() const { return stayed_at_ns_; }
  [[nodiscard]] const tutti::Status& told() const { return state_.told(); }
  bool keeps_outcome = false;

 private:
  void turn() override;
  void advance(tutti::bootstrap::MemberState::Event event);
  void gather() { state_.gather(contribution_(rank_, rounds_done_)); }

  tutti::bootstrap::MemberState state_;
  SimulatedEnd* end_ = nullptr;
  const int rank_;
  const int ranks_;
  const int rounds_;
  const Contribution& contribution_;
  tutti::bootstrap::Contributions outcome_;
  int rounds_done_ = 0;
  bool stayed_ = false;
  int64_t stayed_at_ns_ = 0;
};

// ---- the network -------------------------------------------------------------------------------

inline SimulatedEnd* Simulation::connect(SimulatedProcess& from, SimulatedProcess& to) {
  SimulatedEnd& here = ends_.emplace_back();
  SimulatedEnd& there = ends_.emplace_back();
  here.process = &from;
  there.process = &to;
  here.other = &there;
  there.other = &here;
  from.ends_.push_back(&here);
  to.ends_.push_back(&there);
  at(arrival(here, 0), [this, &to, &there] {
    to.accept(there);
    wake(to, simulated_ns);
  });
  return &here;
}

inline int64_t Simulation::arrival(SimulatedEnd& from, size_t bytes) {
  const int64_t leaves_ns = from.process->present_ns();
  const auto length = static_cast<double>(bytes);
  int64_t arrives_ns = 0;
  SimulatedHost& host = from.process->host_;
  if (&host == &from.other->process->host_) {
    arrives_ns = leaves_ns + network_.local_latency_ns +
                 static_cast<int64_t>(length / network_.local_bytes_per_ns);
  } else {
    host.line_free_ns = std::max(host.line_free_ns, leaves_ns) +
                        static_cast<int64_t>(length / network_.bytes_per_ns);
    arrives_ns = host.line_free_ns + network_.latency_ns;
  }
  from.last_arrival_ns = std::max(from.last_arrival_ns, arrives_ns);
  return from.last_arrival_ns;
}

inline size_t Simulation::send(SimulatedEnd& from, std::span<const std::byte> bytes) {
  const size_t room = network_.unread - std::min(network_.unread, from.under_way);
  const auto taken = bytes.first(std::min(room, bytes.size()));
  if (taken.empty()) return 0;
  from.under_way += taken.size();
  from.process->sent_bytes_ += taken.size();
  at(arrival(from, taken.size()),
     [this, &from, copy = std::vector<std::byte>(taken.begin(), taken.end())] {
       SimulatedEnd& there = *from.other;
       if (there.closed) return;
       there.arrived.insert(there.arrived.end(), copy.begin(), copy.end());
       wake(*there.process, simulated_ns);
     });
  return taken.size();
}

inline std::vector<std::byte> Simulation::receive(SimulatedEnd& at, size_t most) {
  const auto end = at.arrived.begin() + static_cast<ptrdiff_t>(std::min(most, at.arrived.size()));
  std::vector<std::byte> bytes(at.arrived.begin(), end);
  at.arrived.erase(at.arrived.begin(), end);
  at.other->under_way -= bytes.size();
  if (!bytes.empty()) wake(*at.other->process, at.process->present_ns());
  return bytes;
}

inline void Simulation::close(SimulatedEnd& end) {
  if (end.closed) return;
  end.closed = true;
  std::erase(end.process->ends_, &end);
  at(arrival(end, 0), [this, &end] {
    end.other->closing_seen = true;
    wake(*end.other->process, simulated_ns);
  });
}

inline void Simulation::wake(SimulatedProcess& process, int64_t at_ns) {
  if (process.dead_) return;
  const int64_t when_ns = std::max({at_ns, process.free_ns_, simulated_ns});
  if (process.woken_at_ns_ <= when_ns) return;
  process.woken_at_ns_ = when_ns;
  at(when_ns, [&process, when_ns] {
    if (process.woken_at_ns_ != when_ns) return;
    process.woken_at_ns_ = INT64_MAX;
    process.take_turn();
  });
}

inline void Simulation::run(int64_t until_ns) {
  while (!events_.empty() && events_.top().at_ns <= until_ns) {
    auto what = std::move(const_cast<Event&>(events_.top()).what);
    simulated_ns = events_.top().at_ns;
    events_.pop();
    what();
  }
  simulated_ns = until_ns;
}

inline void SimulatedProcess::take_turn() {
  if (dead_) return;
  if (simulated_ns < free_ns_) return simulation_.wake(*this, free_ns_);
  turning_ = true;
  begun_ns_ = thread_ns();
  turn();
  const int64_t took_ns = thread_ns() - begun_ns_;
  turning_ = false;
  processor_ns_ += took_ns;
  free_ns_ = simulated_ns + took_ns;
}

inline void SimulatedProcess::die() {
  dead_ = true;
  for (SimulatedEnd* end : std::vector(ends_)) simulation_.close(*end);
}

// ---- processes ---------------------------------------------------------------------------------

// As the loop over sockets does it (bootstrap/service.cpp).
inline void SimulatedService::turn() {
  constexpr size_t kMostStrangers = 256;
  auto& links = hub_->links();
  for (tutti::bootstrap::Link& link : links) read(link, *ends_of_[&link]);
  auto strangers = std::ranges::count_if(links, [](auto& link) { return link.stranger; });
  while (!waiting_.empty() && static_cast<size_t>(strangers) < kMostStrangers) {
    SimulatedEnd& end = *waiting_.front();
    waiting_.pop_front();
    const bool network = &end.other->process->host() != &host_;
    const int pid = end.other->process->pid();
    tutti::bootstrap::Link& link = hub_->enter(
        {.from = "a host", .network = network, .pid = pid, .own = !network && pid == process});
    ends_of_[&link] = &end;
    ++strangers;
    read(link, end);
  }
  most_connections_ = std::max(most_connections_, links.size());
  hub_->check_deadlines();
  for (const bool own : {false, true}) {
    for (tutti::bootstrap::Link& link : links) {
      if (link.origin.own == own) write(link, *ends_of_[&link]);
    }
  }
  forget();
  if (hub_->finished()) return die();  // as its thread ends
  const int64_t next_ms = hub_->next_deadline_ms();
  if (next_ms != tutti::kNever) {
    simulation_.wake(*this, (next_ms + 1) * 1'000'000);
  }
}

inline void SimulatedService::read(tutti::bootstrap::Link& link, SimulatedEnd& end) {
  while (!end.arrived.empty() && !link.gone) {
    hub_->hear(link, simulation_.receive(end, 16 << 10));
  }
  if (end.closing_seen && !link.gone) hub_->lost(link, 0);
}

inline void SimulatedService::write(tutti::bootstrap::Link& link, SimulatedEnd& end) {
  while (hub_->may_write(link)) {
    std::vector<std::byte>& out = hub_->to_write(link);
    const size_t sent = simulation_.send(end, out);
    out.erase(out.begin(), out.begin() + static_cast<ptrdiff_t>(sent));
    if (!out.empty()) return;
  }
}

inline void SimulatedService::forget() {
  hub_->forget_gone();
  if (hub_->links().size() == ends_of_.size()) return;
  std::unordered_map<tutti::bootstrap::Link*, SimulatedEnd*> left;
  for (tutti::bootstrap::Link& link : hub_->links()) left[&link] = ends_of_[&link];
  for (const auto& [link, end] : ends_of_) {
    if (!left.contains(link)) simulation_.close(*end);
  }
  ends_of_ = std::move(left);
}

inline void SimulatedRank::turn() {
  using Event = tutti::bootstrap::MemberState::Event;
  auto& session = state_.session();
  session.append(simulation_.receive(*end_, SIZE_MAX));
  Event event{};
  while ((event = state_.next()) != Event::kMore && event != Event::kRefused) advance(event);
  const size_t sent = simulation_.send(*end_, session.out());
  session.out().erase(session.out().begin(), session.out().begin() + static_cast<ptrdiff_t>(sent));
}

inline void SimulatedRank::advance(tutti::bootstrap::MemberState::Event event) {
  using Event = tutti::bootstrap::MemberState::Event;
  if (event == Event::kProved) state_.say_hello({.rank = rank_, .ranks = ranks_}, -1);
  if (event == Event::kWelcome) gather();
  if (event == Event::kOutcome) {
    ++rounds_done_;
    auto outcome = state_.take_contributions();
    if (keeps_outcome) outcome_ = std::move(outcome);
    if (rounds_done_ < rounds_) return gather();
    state_.stay();
  }
  if (event == Event::kStayed) {
    stayed_ = true;
    stayed_at_ns_ = present_ns();
  }
}

}  // namespace tutti_test
