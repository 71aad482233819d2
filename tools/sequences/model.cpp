// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/sequences/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace tutti {
namespace {

bool sends_messages(const Step& step) {
  return step.kind == StepKind::kSend || step.kind == StepKind::kRecv;
}

// Equal blocks, one after the other, as many as that buffer has.
Layout layout_of(Blocks blocks, uint64_t count, int ranks) {
  Layout layout;
  const int number = blocks == Blocks::kPerRank ? ranks : blocks == Blocks::kOne ? 1 : 0;
  for (int i = 0; i < number; ++i) {
    layout.counts.push_back(count);
    layout.offsets.push_back(static_cast<uint64_t>(i) * count);
  }
  return layout;
}

Call call_of(Collective collective, uint64_t count, int root, int rank, int ranks) {
  Call call;
  call.collective = collective;
  call.type = DataType::kFloat32;
  call.root = has_root(collective) ? root : -1;
  call.count = collective == Collective::kBarrier ? 0 : count;
  if (!is_uneven(collective)) return call;
  const BufferBlocks blocks = blocks_of(collective, rank == root);
  call.layouts = std::make_shared<Layouts>(
      Layouts{layout_of(blocks.send, count, ranks), layout_of(blocks.recv, count, ranks)});
  const bool all_know =
      collective == Collective::kAllgatherv || collective == Collective::kReduceScatterv;
  if (!all_know) call.count = 0;
  return call;
}

}  // namespace

SequenceModel::SequenceModel(const ModelOptions& options, Plans plans)
    : options_(options),
      plans_(std::move(plans)),
      window_(options.ranks, {.slots = {.slot_bytes = options.limits.slots.call_bytes},
                              .window_bytes = options.limits.window_bytes}),
      ranks_(static_cast<size_t>(options.ranks)) {
  for (Rank& rank : ranks_) {
    rank.log = std::make_unique<CallLog>(number_of(rank), window_.ranks(), options.oversubscribed);
    rank.slots = std::make_unique<SlotAllocator>(&window_, options.oversubscribed);
    rank.clock.assign(ranks_.size(), 0);
    rank.clock[static_cast<size_t>(number_of(rank))] = 1;
    rank.pulled.assign(ranks_.size(), 0);
    rank.released.resize(plans_.front().size() + 1);  // calls count from 1
    const auto watched = [&](uint64_t bytes) { return WatchedMemory(bytes, ranks_.size()); };
    rank.lines.assign(kCallLines, watched(kLineBytes));
    rank.slot_copies.assign(2, watched(options.limits.slots.call_bytes));
    rank.ping_pong = watched(options.limits.slots.call_bytes);
    rank.window = watched(options.limits.window_bytes);
  }
}

std::string SequenceModel::run(uint32_t seed) {
  std::mt19937 random(seed);
  const size_t calls = plans_.front().size();
  const auto unfinished = [&](const Rank& rank) { return rank.calls < calls; };
  size_t idle = 0;
  while (fault_.empty() && std::ranges::any_of(ranks_, unfinished)) {
    Rank& rank = ranks_[random() % ranks_.size()];
    // Some steps in a row, now few, now many: so that ranks run ahead.
    const uint32_t most = 1U << random() % 10;
    bool moved = false;
    for (uint32_t i = 0; i < most && fault_.empty() && unfinished(rank) && advance(rank); ++i) {
      moved = true;
    }
    idle = moved ? 0 : idle + 1;
    if (idle > 1000 * ranks_.size()) complain(rank, "waits for ever");
  }
  return fault_;
}

// One step, or the beginning or end of a call; returns whether it could be done.
bool SequenceModel::advance(Rank& rank) {
  if (rank.part == nullptr) {
    start(rank);
    return true;
  }
  if (!rank.begun) return begin(rank);
  if (rank.next == 0 && !rank.part->traits.enters && !all_have_entered(rank)) return false;
  if (rank.next == rank.part->schedule.steps.size()) return finish(rank);
  if (!run_step(rank, rank.part->schedule.steps[rank.next])) return false;
  ++rank.next;
  return true;
}

void SequenceModel::start(Rank& rank) {
  const Plan& plan = *plans_[static_cast<size_t>(number_of(rank))][rank.calls];
  rank.part = plan.parts.data();
  rank.log->start(plan.signature);
  rank.begun = false;
  rank.next = 0;
  if (rank.part->slot_extent > 0) place_slots(rank);
  // What the log waits for beyond that, if it has to wait at all, is for later calls.
  rank.begins_after = rank.log->begins_after();
  if (options_.omission == Omission::kOneCall) --rank.begins_after;
}

void SequenceModel::place_slots(Rank& rank) {
  if (rank.part->ping_pong_slots) {
    if (options_.omission != Omission::kSwap) rank.swapped = rank.slots->swap();
    return;
  }
  const uint64_t extent = rank.part->slot_extent;
  const SlotAllocator::SizeClass size_class = rank.slots->size_class_of(extent);
  rank.at = rank.slots->place(rank.log->call(), extent, size_class);
  if (rank.part->traits.slot_written == 0) return;
  const uint32_t after = rank.slots->begins_after(*rank.log, extent, size_class, rank.at);
  if (options_.omission != Omission::kSlotReuse) rank.log->begin_after(after);
}

bool SequenceModel::begin(Rank& rank) {
  const bool may = rank.log->may_begin(rank.part->traits.slot_written == 0);
  if (rank.log->fault() != CallLog::Fault::kNone) complain(rank, "finds that calls differ");
  const bool waits = options_.omission != Omission::kFlowControl;
  if (!may && waits) return false;
  rank.begun = true;
  if (waits && reached(rank.begins_after, 1)) {
    for (int peer = 0; peer < options_.ranks; ++peer) learn(rank, peer, rank.begins_after, 1);
  }
  if (!rank.part->traits.enters) enter(rank);
  return true;
}

bool SequenceModel::finish(Rank& rank) {
  if (!rank.part->traits.runs_ahead && !all_have_entered(rank)) return false;
  for (int peer = 0; peer < options_.ranks; ++peer) {
    const auto reader = static_cast<size_t>(peer);
    if (rank.pulled[reader] <= rank.clock[reader]) continue;
    complain(rank, fmt::format("ends while rank {} may yet read its buffers", peer));
  }
  std::ranges::fill(rank.pulled, 0);
  rank.log->finish(rank.part->schedule.ticks);
  rank.part = nullptr;
  ++rank.calls;
  return true;
}

bool SequenceModel::run_step(Rank& rank, const Step& step) {
  switch (step.kind) {
    case StepKind::kCopy:
    case StepKind::kReduce:
      read_sources(rank, step);
      write(rank, step.dst, step.bytes);
      return true;
    case StepKind::kShow: write(rank, step.dst, sizeof(BlockHead)); return true;
    case StepKind::kExpect: read(rank, step.src, sizeof(BlockHead)); return true;
    case StepKind::kPublish:
      if (step.tick == 1) {
        enter(rank);
      } else {
        rank.log->publish(step.tick);
        release(rank, step.tick);
      }
      return true;
    case StepKind::kPull: pull(rank, step.peer); return true;
    case StepKind::kAwait:
      if (step.peer != kAllPeers) return has_come(rank, step.peer, step.tick);
      for (int peer = 0; peer < options_.ranks; ++peer) {
        if (!has_come(rank, peer, step.tick)) return false;
      }
      return true;
    default: return true;
  }
}

void SequenceModel::enter(Rank& rank) {
  if (rank.part->announces) {
    write(rank, Ref::of(Space::kLine, 0, number_of(rank)), kShownBytes);
  }
  rank.log->enter({});
  release(rank, 1);
}

void SequenceModel::release(Rank& rank, uint32_t tick) {
  rank.released[rank.log->call()].push_back({tick, rank.clock});
  ++rank.clock[static_cast<size_t>(number_of(rank))];
}

void SequenceModel::learn(Rank& rank, int peer, uint32_t call, uint32_t tick) {
  if (peer == number_of(rank)) return;
  const auto& released = ranks_[static_cast<size_t>(peer)].released[call];
  const auto known = std::ranges::find_if(
      released, [tick](const Release& release) { return release.tick >= tick; });
  if (known == released.end()) return complain(rank, "goes on before it may");
  for (size_t i = 0; i < rank.clock.size(); ++i) {
    rank.clock[i] = std::max(rank.clock[i], known->clock[i]);
  }
}

bool SequenceModel::has_come(Rank& rank, int peer, uint32_t tick) {
  if (peer == number_of(rank)) return true;
  const uint32_t call = rank.log->call();
  if (!rank.log->knows_entry(peer, call) &&
      rank.log->look_at(peer, call) != CallLog::Look::kIsThere) {
    return false;
  }
  if (tick > 1 && !rank.log->is_at(rank.log->tick_of(peer).load(), tick)) return false;
  if (tick == 1 || options_.omission != Omission::kTicks) learn(rank, peer, call, tick);
  if (rank.part->schedule.shows_buffers) read(rank, Ref::of(Space::kLine, 0, peer), kShownBytes);
  return true;
}

bool SequenceModel::all_have_entered(Rank& rank) {
  for (int peer = 0; peer < options_.ranks; ++peer) {
    if (!has_come(rank, peer, 1)) return false;
  }
  rank.log->all_have_entered();
  return true;
}

void SequenceModel::read_sources(Rank& rank, const Step& step) {
  if (step.kind == StepKind::kCopy) return read(rank, step.src, step.bytes);
  const auto& all = rank.part->schedule.sources;
  for (const Ref& source : std::span(all).subspan(step.first_source, step.source_count)) {
    read(rank, source, step.bytes);
  }
}

SequenceModel::Place SequenceModel::place_of(const Rank& rank, const Ref& ref) {
  if (ref.peer() < 0) return {nullptr, 0};
  const uint32_t call = rank.log->call();
  auto owner = static_cast<size_t>(ref.peer());
  const bool ping_pong = ref.space() == Space::kSlot && rank.part->ping_pong_slots;
  if (ping_pong && rank.swapped) owner = 1 - owner;
  Rank& memory = ranks_[owner];
  if (ping_pong) return {&memory.ping_pong, ref.offset};
  switch (ref.space()) {
    case Space::kLine: return {&memory.lines[call & rank.log->most_ahead()], ref.offset};
    case Space::kSlot: return {&memory.slot_copies[call & 1], rank.at + ref.offset};
    case Space::kWindow: return {&memory.window, ref.offset};
    default: return {nullptr, 0};
  }
}

void SequenceModel::read(Rank& rank, const Ref& ref, uint64_t bytes) {
  const Place place = place_of(rank, ref);
  if (place.memory == nullptr) return;
  const std::string wrong = place.memory->read(
      place.offset, bytes, static_cast<size_t>(number_of(rank)), rank.log->call(), rank.clock);
  if (!wrong.empty()) complain(rank, fmt::format("{} ({})", wrong, to_string(ref)));
}

void SequenceModel::write(Rank& rank, const Ref& ref, uint64_t bytes) {
  const Place place = place_of(rank, ref);
  if (place.memory == nullptr) return;
  const std::string wrong = place.memory->write(
      place.offset, bytes, static_cast<size_t>(number_of(rank)), rank.log->call(), rank.clock);
  if (!wrong.empty()) complain(rank, fmt::format("{} ({})", wrong, to_string(ref)));
}

// The buffers of the peer are there from its entry into the call to its end.
void SequenceModel::pull(Rank& rank, int peer) {
  Rank& owner = ranks_[static_cast<size_t>(peer)];
  const auto self = static_cast<size_t>(number_of(rank));
  const auto& released = owner.released[rank.log->call()];
  const auto index = static_cast<size_t>(peer);
  if (released.empty() || released.front().clock[index] > rank.clock[index]) {
    complain(rank, fmt::format("reads buffers of rank {} before it knows its entry", peer));
  }
  if (owner.calls > rank.calls) {
    complain(rank, fmt::format("reads buffers of rank {}, which has ended the call", peer));
  }
  owner.pulled[self] = rank.clock[self];
}

void SequenceModel::complain(const Rank& rank, const std::string& what) {
  if (!fault_.empty()) return;
  fault_ = fmt::format("rank {} in call {} ({}) {}", number_of(rank), rank.log->call(),
                       plans_.front()[rank.calls]->algorithm->name, what);
}

std::vector<std::shared_ptr<const Plan>> shared_plans(const Algorithm& algorithm, uint64_t count,
                                                      int root, const ModelOptions& options) {
  const Choose choose = [&algorithm](const Problem& problem, DataType) {
    Chosen chosen;
    if (algorithm.applies(problem).yes) chosen.algorithm = &algorithm;
    return chosen;
  };
  std::vector<std::shared_ptr<const Plan>> plans;
  for (int rank = 0; rank < options.ranks; ++rank) {
    const Call call = call_of(algorithm.collective, count, root, rank, options.ranks);
    PlanContext context;
    context.rank = rank;
    context.ranks = options.ranks;
    context.limits = options.limits;
    context.choose = &choose;
    std::shared_ptr<Plan> plan = make_plan(call, plan_key(call, rank), context);
    if (plan == nullptr || plan->parts.size() != 1 || plan->parts[0].composed != nullptr) return {};
    if (std::ranges::any_of(plan->parts[0].schedule.steps, sends_messages)) return {};
    plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace tutti
