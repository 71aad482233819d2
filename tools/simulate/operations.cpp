// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/simulate/operations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace tutti::simulate {
namespace {

// A published tick: the one at place `index`, from 0, of those that a rank publishes in a phase.
struct Published {
  int rank = 0;
  uint32_t phase = 0;
  size_t index = 0;
  auto operator<=>(const Published&) const = default;
};

// Which ticks ranks publish, and who awaits them.
class Ticks {
 public:
  explicit Ticks(const Job& job) : job_(job) {
    each_phase([&](int rank, uint32_t number, const Phase& phase) {
      std::vector<uint32_t>& ticks = published_[{rank, number}];
      for (const Op& op : phase.program->ops) {
        if (op.kind == OpKind::kPublish) ticks.push_back(static_cast<uint32_t>(op.amount));
      }
    });
    each_phase([&](int rank, uint32_t number, const Phase& phase) {
      for (const Op& op : phase.program->ops) {
        if (op.kind != OpKind::kAwait) continue;
        for (const Published& tick : awaited(rank, number, phase, op)) {
          waiters_[tick].insert(rank);
        }
      }
    });
  }

  // The first of each peer that is the tick which is awaited, or a later one.
  [[nodiscard]] std::vector<Published> awaited(int rank, uint32_t number, const Phase& phase,
                                               const Op& op) const {
    std::vector<Published> found;
    for (int peer = 0; peer < phase.program->ranks; ++peer) {
      const bool meant =
          op.apart == kAllPeers || (phase.rank + op.apart) % phase.program->ranks == peer;
      if (!meant || peer == phase.rank) continue;
      const int other = job_.rank_of(kWithin, rank, peer);
      const std::vector<uint32_t>& ticks = published_.at({other, number});
      const auto first = std::ranges::lower_bound(ticks, static_cast<uint32_t>(op.amount));
      if (first == ticks.end()) continue;
      found.push_back({other, number, static_cast<size_t>(first - ticks.begin())});
    }
    return found;
  }
  [[nodiscard]] const std::set<int>& waiters(const Published& tick) const {
    static const std::set<int> kNone;
    const auto found = waiters_.find(tick);
    return found == waiters_.end() ? kNone : found->second;
  }

 private:
  template <typename Visit>
  void each_phase(Visit visit) const {
    for (size_t rank = 0; rank < job_.roles.size(); ++rank) {
      const std::vector<Phase>& phases = job_.roles[rank][kWithin];
      for (size_t i = 0; i < phases.size(); ++i) {
        visit(static_cast<int>(rank), static_cast<uint32_t>(i), phases[i]);
      }
    }
  }

  const Job& job_;
  std::map<std::pair<int, uint32_t>, std::vector<uint32_t>> published_;  // ticks by rank and phase
  std::map<Published, std::set<int>> waiters_;
};

// The operations of one rank.
class RankOperations {
 public:
  RankOperations(const Job& job, const Ticks& ticks, int rank)
      : job_(job), ticks_(ticks), rank_(rank) {}

  std::vector<Operation> all() && {
    const auto& streams = job_.roles[Job::rank_at(rank_)];
    // A phase is added when all that it comes after is.
    bool added = true;
    while (added) {
      added = false;
      for (int which = 0; which < kStreams; ++which) {
        const std::vector<Phase>& phases = streams[static_cast<size_t>(which)];
        while (ends_of(which).size() < phases.size() && is_next(phases[ends_of(which).size()])) {
          add_phase(which, phases[ends_of(which).size()]);
          added = true;
        }
      }
    }
    return std::move(operations_);
  }

 private:
  using Kind = Operation::Kind;
  using Ends = std::vector<std::set<Before>>;  // ends by phase: what comes after it waits for these
  Ends& ends_of(int which) { return ends_[static_cast<size_t>(which)]; }

  bool is_next(const Phase& phase) {
    for (int other = 0; other < kStreams; ++other) {
      if (ends_of(other).size() < phase.after[static_cast<size_t>(other)]) return false;
    }
    return true;
  }

  void add_phase(int which, const Phase& phase) {
    before_.clear();
    sent_.clear();
    if (!ends_of(which).empty()) before_ = ends_of(which).back();
    for (int other = 0; other < kStreams; ++other) {
      const uint32_t after = phase.after[static_cast<size_t>(other)];
      if (after > 0)
        before_.insert(ends_of(other)[after - 1].begin(), ends_of(other)[after - 1].end());
    }
    const auto number = static_cast<uint32_t>(ends_of(which).size());
    size_t published = 0;
    for (const Op& op : phase.program->ops) {
      const auto peer = [&] {
        return job_.rank_of(which, rank_, (phase.rank + op.apart) % phase.program->ranks);
      };
      const auto bytes = static_cast<uint64_t>(op.amount);
      switch (op.kind) {
        case OpKind::kWork:
          then(add({.kind = Kind::kCompute,
                    .amount = static_cast<uint64_t>(std::llround(op.amount * 1e9))}));
          break;
        case OpKind::kSend: send(bytes, peer(), static_cast<size_t>(which)); break;
        case OpKind::kRecv: then(add(recv(bytes, peer(), static_cast<size_t>(which)))); break;
        case OpKind::kFence:
          before_.merge(sent_);
          sent_.clear();
          break;
        case OpKind::kPublish: publish({rank_, number, published++}); break;
        case OpKind::kAwait: await(ticks_.awaited(rank_, number, phase, op)); break;
      }
    }
    before_.merge(sent_);
    ends_of(which).push_back(before_);
  }

  static Operation recv(uint64_t bytes, int peer, size_t tag) {
    return {.kind = Kind::kRecv, .amount = bytes, .peer = peer, .tag = tag};
  }
  // A tag of its own, after those of streams.
  static size_t tag_of(const Published& tick) {
    constexpr size_t kMostTicks = 1 << 16;
    return kStreams + tick.phase * kMostTicks + tick.index;
  }

  // The next operation need not wait until the message has left, only a fence does.
  void send(uint64_t bytes, int peer, size_t tag) {
    const size_t index = add({.kind = Kind::kSend, .amount = bytes, .peer = peer, .tag = tag});
    sent_.insert({index, false});
    before_ = {{index, true}};
  }
  void publish(const Published& tick) {
    for (const int waiter : ticks_.waiters(tick)) send(1, waiter, tag_of(tick));
  }
  void await(const std::vector<Published>& ticks) {
    std::set<Before> arrived;
    for (const Published& tick : ticks) {
      if (seen_.insert(tick).second) arrived.insert({add(recv(1, tick.rank, tag_of(tick))), false});
    }
    if (!arrived.empty()) before_ = std::move(arrived);
  }

  // Adds an operation; returns its index.
  size_t add(Operation operation) {
    operation.before = before_;
    operations_.push_back(std::move(operation));
    return operations_.size() - 1;
  }
  void then(size_t index) { before_ = {{index, false}}; }

  const Job& job_;
  const Ticks& ticks_;
  const int rank_;
  std::vector<Operation> operations_;
  std::set<Before> before_;  // operations that the next one waits for
  std::set<Before> sent_;    // since the last fence
  std::set<Published> seen_;
  std::array<Ends, kStreams> ends_;
};

}  // namespace

std::vector<std::vector<Operation>> operations_of(const Job& job) {
  const Ticks ticks(job);
  std::vector<std::vector<Operation>> ranks;
  for (size_t rank = 0; rank < job.roles.size(); ++rank) {
    ranks.push_back(RankOperations(job, ticks, static_cast<int>(rank)).all());
  }
  return ranks;
}

}  // namespace tutti::simulate
