// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tests/sched/random_run.hpp"

#include <algorithm>

namespace tutti {
namespace {

// Both copies of what alternates are used again.
constexpr uint32_t kCalls = 3;
constexpr uint64_t kPoison = 0xdeadbeefdeadbeefU;

uint64_t byte_of_caller(uint32_t call, int rank, uint64_t index) {
  uint64_t x = (call + 1) * 0x9e3779b97f4a7c15U + static_cast<uint64_t>(rank) * 0x100000001b3U;
  x = (x ^ index) * 0xff51afd7ed558ccdU;
  return x ^ (x >> 29);
}

// How many blocks the caller of that rank gives.
int blocks_given(const Problem& problem, int rank) {
  switch (problem.collective) {
    case Collective::kReduceScatter:
    case Collective::kReduceScatterv:
    case Collective::kAlltoall:
    case Collective::kAlltoallv: return problem.ranks;
    case Collective::kScatter:
    case Collective::kScatterv: return rank == problem.root ? problem.ranks : 0;
    case Collective::kBroadcast: return rank == problem.root ? 1 : 0;
    default: return 1;
  }
}

bool is_any(Collective collective, std::initializer_list<Collective> list) {
  return std::ranges::find(list, collective) != list.end();
}

// In place, the receive buffer is a part of the send buffer, or the other way round.
bool recv_is_in_send(const Problem& problem, int rank) {
  if (!problem.in_place) return false;
  const Collective c = problem.collective;
  return is_any(c, {Collective::kReduceScatter, Collective::kReduceScatterv}) ||
         (is_any(c, {Collective::kScatter, Collective::kScatterv}) && rank == problem.root);
}
bool send_is_in_recv(const Problem& problem, int rank) {
  if (!problem.in_place) return false;
  const Collective c = problem.collective;
  return is_any(c, {Collective::kAllreduce, Collective::kAllgather, Collective::kAllgatherv,
                    Collective::kAlltoall, Collective::kAlltoallv}) ||
         (is_any(c, {Collective::kReduce, Collective::kGather, Collective::kGatherv}) &&
          rank == problem.root);
}

}  // namespace

RandomRun::RandomRun(std::span<const Schedule> schedules, const Problem& problem, uint64_t seed)
    : schedules_(schedules), problem_(problem), random_(seed), ranks_(schedules.size()) {
  results_.resize(kCalls * ranks_.size());
  const uint64_t buffer_bytes = problem.stride_bytes() * static_cast<uint64_t>(problem.ranks);
  for (int r = 0; r < problem.ranks; ++r) {
    Rank& rank = rank_of(r);
    rank.own = {Bytes(buffer_bytes), Bytes(buffer_bytes),
                Bytes(schedule(r).scratch_bytes, kPoison)};
    for (Bytes& line : rank.alternating[0]) line.assign(kLineBytes, kPoison);
    for (Bytes& slot : rank.alternating[1]) slot.assign(problem.whole_slot_bytes(), kPoison);
    rank.window.assign(problem.limits.window_bytes, kPoison);
  }
}

bool RandomRun::run() {
  const auto ranks = static_cast<uint64_t>(problem_.ranks);
  while (true) {
    const auto chosen = static_cast<int>(random_() % ranks);
    bool progress = false;
    // Now and then a rank runs far ahead.
    for (uint64_t steps = uint64_t{1} << (random_() % 7); steps > 0; --steps) {
      if (!advance(chosen)) break;
      progress = true;
    }
    for (int r = 0; r < problem_.ranks && !progress; ++r) progress = advance(r);
    if (progress) continue;
    return std::ranges::all_of(ranks_, [](const Rank& rank) { return rank.call == kCalls; });
  }
}

bool RandomRun::advance(int r) {
  Rank& rank = rank_of(r);
  if (rank.call == kCalls) return false;
  if (!rank.begun) begin(r);
  if (rank.at == schedule(r).steps.size()) return end(r);
  if (!execute(r, schedule(r).steps[rank.at])) return false;
  ++rank.at;
  return true;
}

void RandomRun::begin(int r) {
  Rank& rank = rank_of(r);
  rank.begun = true;
  rank.at = 0;
  for (const size_t buffer : {0U, 1U}) {
    Bytes& bytes = rank.own[buffer];
    for (uint64_t i = 0; i < bytes.size(); ++i) bytes[i] = kPoison + i;
  }
  const bool broadcast = problem_.collective == Collective::kBroadcast;
  const int blocks = blocks_given(problem_, r);
  for (int block = 0; block < blocks && problem_.bytes() > 0; ++block) {
    const uint64_t offset = static_cast<uint64_t>(block) * problem_.stride_bytes();
    uint64_t* bytes = at(r, Ref::of(broadcast ? Space::kRecv : Space::kSend, offset));
    for (uint64_t i = 0; i < problem_.bytes(); ++i) {
      bytes[i] = byte_of_caller(rank.call, r, offset + i);
    }
  }
  const auto publishes = [](const Step& step) { return step.kind == StepKind::kPublish; };
  if (std::ranges::none_of(schedule(r).steps, publishes)) ++rank.tick;
}

bool RandomRun::end(int r) {
  Rank& rank = rank_of(r);
  if (!sends_complete(r)) return false;
  const bool shares = problem_.limits.slots.shared();
  for (int peer = 0; peer < problem_.ranks && shares; ++peer) {
    if (!reached(r, peer, 1)) return false;
  }
  results_[rank.call * ranks_.size() + static_cast<size_t>(r)] =
      rank.own[recv_is_in_send(problem_, r) ? 0 : 1];
  rank.begun = false;
  ++rank.call;
  rank.tick = rank.call * schedule(r).ticks;
  return true;
}

bool RandomRun::execute(int r, const Step& step) {
  switch (step.kind) {
    case StepKind::kCopy:
    case StepKind::kPull: std::copy_n(at(r, step.src), step.bytes, at(r, step.dst)); return true;
    case StepKind::kWriteHead: *at(r, step.dst) = step.bytes; return true;
    case StepKind::kExpect: return *at(r, step.src) == step.bytes;
    case StepKind::kReduce: reduce(r, step); return true;
    case StepKind::kSend: send(r, step); return true;
    case StepKind::kRecv: return recv(r, step);
    case StepKind::kFence: return sends_complete(r);
    case StepKind::kPublish:
      rank_of(r).tick = rank_of(r).call * schedule(r).ticks + step.tick;
      return true;
    case StepKind::kAwait:
      if (step.peer != kAllPeers) return reached(r, step.peer, step.tick);
      for (int peer = 0; peer < problem_.ranks; ++peer) {
        if (peer != r && !reached(r, peer, step.tick)) return false;
      }
      return true;
  }
  return false;
}

// Sums: any association gives the same. Finished is a multiple.
void RandomRun::reduce(int r, const Step& step) {
  for (uint64_t i = 0; i < step.bytes; ++i) {
    uint64_t sum = 0;
    for (uint32_t source = 0; source < step.source_count; ++source) {
      sum += at(r, schedule(r).sources[step.first_source + source])[i];
    }
    at(r, step.dst)[i] = step.finishes ? 3 * sum : sum;
  }
}

void RandomRun::send(int r, const Step& step) {
  Send send{step.peer, step.src, step.bytes, random_() % 2 == 0, false, {}};
  if (send.eager) send.copy.assign(at(r, step.src), at(r, step.src) + step.bytes);
  rank_of(r).sends.push_back(std::move(send));
}

bool RandomRun::recv(int r, const Step& step) {
  std::vector<Send>& sends = rank_of(step.peer).sends;
  const auto send = std::ranges::find_if(
      sends, [&](const Send& candidate) { return candidate.peer == r && !candidate.received; });
  if (send == sends.end() || send->bytes != step.bytes) return false;
  const uint64_t* from = send->eager ? send->copy.data() : at(step.peer, send->src);
  std::copy_n(from, step.bytes, at(r, step.dst));
  send->received = true;
  return true;
}

bool RandomRun::sends_complete(int r) {
  std::erase_if(rank_of(r).sends, [](const Send& send) { return send.received; });
  return std::ranges::all_of(rank_of(r).sends, [](const Send& send) { return send.eager; });
}

bool RandomRun::reached(int r, int peer, uint32_t tick) {
  return rank_of(peer).tick >= rank_of(r).call * schedule(r).ticks + tick;
}

uint64_t* RandomRun::at(int r, const Ref& ref) {
  if (ref.space() == Space::kPeerSend) {
    return at(ref.peer(), Ref::of(Space::kSend, ref.offset));
  }
  if (ref.space() == Space::kPeerRecv) {
    return at(ref.peer(), Ref::of(Space::kRecv, ref.offset));
  }
  const size_t parity = rank_of(r).call % 2;
  const uint64_t own_block = static_cast<uint64_t>(r) * problem_.stride_bytes();
  const bool blocks = is_any(problem_.collective, {Collective::kAllgather, Collective::kAllgatherv,
                                                   Collective::kGather, Collective::kGatherv});
  Rank& own = rank_of(r);
  switch (ref.space()) {
    case Space::kSend:
      if (!send_is_in_recv(problem_, r)) return own.own[0].data() + ref.offset;
      return own.own[1].data() + ref.offset + (blocks ? own_block : 0);
    case Space::kRecv:
      if (!recv_is_in_send(problem_, r)) return own.own[1].data() + ref.offset;
      return own.own[0].data() + own_block + ref.offset;
    case Space::kScratch: return own.own[2].data() + ref.offset;
    case Space::kLine: return rank_of(ref.peer()).alternating[0][parity].data() + ref.offset;
    case Space::kSlot: return rank_of(ref.peer()).alternating[1][parity].data() + ref.offset;
    case Space::kWindow: return rank_of(ref.peer()).window.data() + ref.offset;
    case Space::kPeerSend:
    case Space::kPeerRecv: break;
  }
  return nullptr;
}

}  // namespace tutti
