// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/simulate/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "tools/simulate/loop_state.hpp"

namespace tutti::simulate {
namespace {

// A rank works so long at a time before the other stream of the rank has its turn.
constexpr double kTurnSeconds = 2e-6;

constexpr uint64_t kEventsBetweenTold = 1 << 16;

}  // namespace

void Loop::start() {
  const size_t ranks = job_.roles.size();
  streams_.resize(ranks * width_);
  factors_.assign(ranks, 1);
  for (const auto& [rank, factor] : given_.stragglers) factors_[Job::rank_at(rank)] = factor;
  busy_s_.assign(ranks, 0);
  groups_.resize(static_cast<size_t>(job_.hosts.count()));
  outcome_.ranks.resize(ranks);
  outcome_.links.resize(network_.links().size());
  std::mt19937_64 random(given_.seed);
  std::uniform_real_distribution<double> within(0, given_.skew_s);
  for (size_t rank = 0; rank < ranks; ++rank) {
    const double begin = given_.skew_s > 0 ? within(random) : 0;
    outcome_.ranks[rank].begin_s = begin;
    for (size_t which = 0; which < width_; ++which) {
      Stream& s = streams_[rank * width_ + which];
      s.phases = &job_.roles[rank][which];
      s.time_s = s.worked_s = begin;
      s.cause = {static_cast<int>(rank), begin};
      for (const Phase& phase : *s.phases) {
        steps_ += phase.program->ops.size() * static_cast<uint64_t>(given_.calls);
      }
      if (s.phases->empty()) {
        s.blocked = Blocked::kDone;
      } else {
        schedule(EventKind::kRun, static_cast<uint32_t>(rank * width_ + which), begin);
      }
    }
  }
}

void Loop::work(int rank, Stream& s, double seconds) {
  const size_t at = Job::rank_at(rank);
  const double took = seconds * factors_[at];
  s.time_s = processors_.done(std::max(s.time_s, busy_s_[at]), took);
  busy_s_[at] = s.time_s;
  outcome_.ranks[at].work_s += took;
  s.worked_s += took;
  if (s.worked_s > s.cause.seconds) s.cause = {rank, s.worked_s};
}

void Loop::wait_until(int rank, Stream& s, double at, int peer, const Cause& cause,
                      double resume_s) {
  if (at <= s.time_s) return;
  const double waited = at - s.time_s;
  RankOutcome& outcome = outcome_.ranks[Job::rank_at(rank)];
  s.waited_s += waited;
  if (waited > outcome.longest_wait_s) {
    outcome.longest_wait_s = waited;
    outcome.waited_for = peer;
    outcome.cause = cause;
  }
  s.time_s = at;
  s.worked_s = 0;
  s.cause = cause;
  if (resume_s > 0) work(rank, s, resume_s);
}

// Whether the phase may begin.
bool Loop::begin_phase(int rank, int which, Stream& s) {
  const auto count = static_cast<uint32_t>(s.phases->size());
  const uint32_t calls = s.phase / count;
  const Phase& phase = (*s.phases)[s.phase % count];
  for (int i = 0; i < static_cast<int>(width_); ++i) {
    if (i == which) continue;
    const Stream& other = stream(rank, i);
    const auto others = static_cast<uint32_t>(other.phases->size());
    const uint32_t needed = calls * others + phase.after[static_cast<size_t>(i)];
    if (other.phase < needed) {
      s.blocked = Blocked::kAfter;
      return false;
    }
    if (needed > 0 && other.phase == needed && other.ended_s > s.time_s) {
      s.time_s = other.ended_s;
      s.worked_s = 0;
      s.cause = other.cause;
    }
  }
  return true;
}

void Loop::end_phase(int rank, int which, Stream& s) {
  if (which == kWithin) {
    Group& group = groups_[static_cast<size_t>(job_.hosts.host(rank))];
    const auto found = group.find(s.phase);
    if (found != group.end() && ++found->second.done == job_.hosts.neighbors(rank).size()) {
      group.erase(found);
    }
  }
  s.op = 0;
  s.ended_s = s.time_s;
  ++s.phase;
  if (s.phase == s.phases->size() * static_cast<uint32_t>(given_.calls)) {
    s.blocked = Blocked::kDone;
    RankOutcome& outcome = outcome_.ranks[Job::rank_at(rank)];
    outcome.end_s = std::max(outcome.end_s, s.time_s);
    outcome.waited_s = std::max(outcome.waited_s, s.waited_s);
  }
  for (int i = 0; i < static_cast<int>(width_); ++i) {
    const Stream& other = stream(rank, i);
    if (other.blocked == Blocked::kAfter) {
      schedule(EventKind::kRun, static_cast<uint32_t>(&other - streams_.data()), s.time_s);
    }
  }
}

bool Loop::others_go_on(int rank, int which) {
  for (int i = 0; i < static_cast<int>(width_); ++i) {
    if (i != which && stream(rank, i).blocked != Blocked::kDone) return true;
  }
  return false;
}

void Loop::advance(uint32_t index, double now) {
  Stream& s = streams_[index];
  if (s.blocked == Blocked::kDone) return;
  s.blocked = Blocked::kNo;
  const int rank = static_cast<int>(index / width_);
  const int which = static_cast<int>(index % width_);
  const bool shares = others_go_on(rank, which);
  while (s.blocked != Blocked::kDone) {
    if (s.op == 0 && !begin_phase(rank, which, s)) return;
    const Phase& phase = (*s.phases)[s.phase % s.phases->size()];
    if (s.op == phase.program->ops.size()) {
      end_phase(rank, which, s);
      continue;
    }
    if (!step(rank, which, s, phase)) return;
    if (shares && s.time_s > now + kTurnSeconds) {
      return schedule(EventKind::kRun, index, s.time_s);
    }
  }
}

// Whether it is done; else the stream is blocked.
bool Loop::step(int rank, int which, Stream& s, const Phase& phase) {
  const Op& op = phase.program->ops[s.op];
  bool done = true;
  switch (op.kind) {
    case OpKind::kWork: work(rank, s, op.amount); break;
    case OpKind::kSend: send(rank, which, s, phase, op); break;
    case OpKind::kRecv: {
      const int peer = (phase.rank + op.apart) % phase.program->ranks;
      done = receive(rank, which, s, job_.rank_of(which, rank, peer), op);
      break;
    }
    case OpKind::kFence:
      if (s.unsent > 0) {
        s.blocked = Blocked::kFence;
        return false;
      }
      wait_until(rank, s, s.sent_s, -1, s.cause, 0);
      break;
    case OpKind::kPublish: publish(rank, s, phase, static_cast<uint32_t>(op.amount)); break;
    case OpKind::kAwait: done = await(rank, s, phase, op); break;
  }
  if (done) {
    ++s.op;
    ++steps_done_;
  }
  return done;
}

void Loop::tell() const {
  if (!given_.watch || steps_ == 0) return;
  given_.watch(static_cast<double>(steps_done_) / static_cast<double>(steps_));
}

Status Loop::unfinished() const {
  for (size_t i = 0; i < streams_.size(); ++i) {
    const Stream& s = streams_[i];
    if (s.blocked == Blocked::kDone) continue;
    return Status::format(Code::kInternal,
                          "rank {} waits for rank {} for ever, in step {} of phase {}", i / width_,
                          s.peer, s.op, s.phase);
  }
  return {};
}

void Loop::finish() {
  for (const RankOutcome& rank : outcome_.ranks) {
    outcome_.seconds = std::max(outcome_.seconds, rank.end_s);
  }
  outcome_.seconds /= given_.calls;
  outcome_.events = order_;
}

Result<Outcome> Loop::run() {
  start();
  uint64_t ended = 0;  // events
  while (!events_.empty() && error_.ok()) {
    const Event event = events_.top();
    events_.pop();
    if (++ended % kEventsBetweenTold == 0) tell();
    switch (event.kind) {
      case EventKind::kRun: advance(event.index, event.at); break;
      case EventKind::kHop: hop(event.index, event.at); break;
      case EventKind::kArrive: arrive(event.index, event.at); break;
    }
  }
  TUTTI_RETURN_IF_ERROR(error_);
  TUTTI_RETURN_IF_ERROR(unfinished());
  finish();
  return std::move(outcome_);
}

LinkFigures links_of(const NetworkFigures& network, double hop_latency_s, double oversubscription) {
  return {.host_byte_s = network.line_byte_s,
          .fabric_byte_s = network.line_byte_s * oversubscription,
          .host_latency_s = network.message_s / 4,
          .hop_latency_s = hop_latency_s};
}

Result<Outcome> run(const Job& job, Network& network, const NetworkFigures& figures,
                    const Circumstances& circumstances) {
  return Loop(job, network, figures, circumstances).run();
}

}  // namespace tutti::simulate
