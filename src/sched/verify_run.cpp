// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Executes all ranks' schedules together, each until it has to wait, and explains who waits for
// whom if none can go on.
#include "sched/verify_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tutti {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

struct Message {
  int sender;
  uint32_t step;
  uint64_t bytes;
  size_t released;  // the sender's clock
  std::vector<Run> runs;
  uint32_t next = kNone;  // next message of the same pair
  bool received = false;
};

// A block's head, which a rank shows in a step for one peer to expect.
struct Head {
  int sender;
  uint32_t step;
  uint64_t bytes;
  bool expected = false;
};

struct Published {
  uint32_t tick;
  size_t released;
};

struct Rank {
  size_t at = 0;    // the next step
  int awaited = 0;  // kAllPeers: those before have been awaited
  bool ended = false;
  std::vector<Published> published;
  std::vector<uint32_t> sends;  // messages since the last fence
};

class Execution {
 public:
  Execution(std::span<const Schedule> schedules, const Problem& problem, RankMemories& memories,
            Values& values)
      : schedules_(schedules),
        problem_(problem),
        memories_(memories),
        values_(values),
        ranks_(schedules.size()),
        first_(ranks_.size() * ranks_.size(), kNone),
        last_(ranks_.size() * ranks_.size(), kNone) {}

  Status run();

 private:
  enum class Outcome { kDone, kWaits };

  [[nodiscard]] const Schedule& schedule(int rank) const {
    return schedules_[static_cast<size_t>(rank)];
  }
  Rank& rank_of(int rank) { return ranks_[static_cast<size_t>(rank)]; }
  [[nodiscard]] size_t pair(int from, int to) const {
    return static_cast<size_t>(from) * ranks_.size() + static_cast<size_t>(to);
  }

  void enter_without_publish();
  Result<Outcome> execute(int rank, const Step& step);
  Status write_head(int rank, const Step& step);
  Status expect(int rank, const Step& step);
  [[nodiscard]] Status all_heads_expected() const;
  Status work(int rank, const Step& step);
  Status send(int rank, const Step& step);
  Result<Outcome> recv(int rank, const Step& step);
  Outcome fence(int rank);
  void publish(int rank, uint32_t tick);
  Outcome await(int rank, const Step& step);
  bool await_one(int rank, int peer, uint32_t tick);
  [[nodiscard]] Status all_have_entered() const;

  struct Wait {
    int peer;
    std::string what;      // "step 7 (await rank 2 tick 4)"
    std::string if_ended;  // why it never ends if the peer has
  };
  [[nodiscard]] Wait wait_of(int rank) const;
  [[nodiscard]] Status deadlock(int first) const;

  std::span<const Schedule> schedules_;
  const Problem& problem_;
  RankMemories& memories_;
  Values& values_;
  std::vector<Rank> ranks_;
  std::vector<Message> messages_;
  std::vector<Head> heads_;
  std::vector<uint32_t> first_, last_;  // messages sent and not received, per pair
  std::vector<Run> runs_;
  std::vector<std::vector<Run>> source_runs_;
};

Status Execution::run() {
  enter_without_publish();
  for (bool progress = true; progress;) {
    progress = false;
    for (int r = 0; r < problem_.ranks; ++r) {
      Rank& rank = rank_of(r);
      while (rank.at < schedule(r).steps.size()) {
        TUTTI_ASSIGN_OR_RETURN(Outcome outcome, execute(r, schedule(r).steps[rank.at]));
        if (outcome == Outcome::kWaits) break;
        ++rank.at;
        progress = true;
      }
      if (!rank.ended && rank.at == schedule(r).steps.size() && fence(r) == Outcome::kDone) {
        rank.ended = true;
        progress = true;
      }
    }
  }
  for (int r = 0; r < problem_.ranks; ++r) {
    if (!rank_of(r).ended) return deadlock(r);
  }
  for (int r = 0; r < problem_.ranks; ++r) TUTTI_RETURN_IF_ERROR(memories_.check_released(r));
  TUTTI_RETURN_IF_ERROR(all_heads_expected());
  return problem_.collective == Collective::kBarrier ? all_have_entered() : Status();
}

// The executor enters the call for a schedule that does not.
void Execution::enter_without_publish() {
  if (!problem_.limits.slots.shared()) return;
  for (int r = 0; r < problem_.ranks; ++r) {
    const bool publishes = std::ranges::any_of(
        schedule(r).steps, [](const Step& step) { return step.kind == StepKind::kPublish; });
    if (!publishes) publish(r, 1);
  }
}

Result<Execution::Outcome> Execution::execute(int rank, const Step& step) {
  switch (step.kind) {
    case StepKind::kCopy:
    case StepKind::kPull:
    case StepKind::kReduce: TUTTI_RETURN_IF_ERROR(work(rank, step)); break;
    case StepKind::kWriteHead: TUTTI_RETURN_IF_ERROR(write_head(rank, step)); break;
    case StepKind::kExpect: TUTTI_RETURN_IF_ERROR(expect(rank, step)); break;
    case StepKind::kSend: TUTTI_RETURN_IF_ERROR(send(rank, step)); break;
    case StepKind::kRecv: return recv(rank, step);
    case StepKind::kFence: return fence(rank);
    case StepKind::kPublish: publish(rank, step.tick); break;
    case StepKind::kAwait: return await(rank, step);
  }
  return Outcome::kDone;
}

// Head i is bytes i * sizeof(BlockHead) ... of the value that stands for all heads.
Status Execution::write_head(int rank, const Step& step) {
  const size_t at = rank_of(rank).at;
  const Run run = {sizeof(BlockHead), heads_.size() * sizeof(BlockHead), values_.head()};
  heads_.push_back({rank, static_cast<uint32_t>(at), step.bytes});
  return memories_.write(rank, at, step.dst, std::span(&run, 1));
}

// The head at step.src must tell of as many bytes as the step.
Status Execution::expect(int rank, const Step& step) {
  const size_t at = rank_of(rank).at;
  runs_.clear();
  TUTTI_RETURN_IF_ERROR(memories_.read(rank, at, step.src, sizeof(BlockHead), false, runs_));
  const Run& run = runs_.front();
  if (runs_.size() > 1 || run.value != values_.head() || run.index % sizeof(BlockHead) != 0) {
    return Status::format(Code::kInternal, "{} finds no head", step_text(schedules_, rank, at));
  }
  Head& head = heads_[run.index / sizeof(BlockHead)];
  head.expected = true;
  if (head.bytes == step.bytes) return {};
  return Status::format(Code::kInternal, "{} meets a block of another size: {}",
                        step_text(schedules_, rank, at),
                        step_text(schedules_, head.sender, head.step));
}

// If ranks disagree on a size, somebody must find out.
Status Execution::all_heads_expected() const {
  const auto missed = std::ranges::find(heads_, false, &Head::expected);
  if (missed == heads_.end()) return {};
  return Status::format(Code::kInternal, "{} is expected by nobody",
                        step_text(schedules_, missed->sender, missed->step));
}

Status Execution::work(int rank, const Step& step) {
  const size_t at = rank_of(rank).at;
  const std::span<const Ref> sources = reads_of(step, schedule(rank));
  if (source_runs_.size() < sources.size()) source_runs_.resize(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    source_runs_[i].clear();
    TUTTI_RETURN_IF_ERROR(memories_.read(rank, at, sources[i], step.bytes, false, source_runs_[i]));
  }
  if (step.kind != StepKind::kReduce) return memories_.write(rank, at, step.dst, source_runs_[0]);
  runs_.clear();
  const Status status = reduce_runs(std::span(source_runs_).first(sources.size()),
                                    problem_.element_bytes, step.finishes, values_, runs_);
  if (!status.ok()) {
    return Status::format(status.code(), "{} {}", step_text(schedules_, rank, at),
                          status.message());
  }
  return memories_.write(rank, at, step.dst, runs_);
}

Status Execution::send(int rank, const Step& step) {
  const size_t at = rank_of(rank).at;
  Message message{};
  message.sender = rank;
  message.step = static_cast<uint32_t>(at);
  message.bytes = step.bytes;
  message.next = kNone;
  if (step.bytes > 0) {
    TUTTI_RETURN_IF_ERROR(memories_.read(rank, at, step.src, step.bytes, true, message.runs));
  }
  message.released = memories_.clocks().release(rank);
  const auto id = static_cast<uint32_t>(messages_.size());
  messages_.push_back(std::move(message));
  const size_t to = pair(rank, step.peer);
  (first_[to] == kNone ? first_[to] : messages_[last_[to]].next) = id;
  last_[to] = id;
  rank_of(rank).sends.push_back(id);
  return {};
}

Result<Execution::Outcome> Execution::recv(int rank, const Step& step) {
  uint32_t& first = first_[pair(step.peer, rank)];
  if (first == kNone) return Outcome::kWaits;
  Message& message = messages_[first];
  const size_t at = rank_of(rank).at;
  if (message.bytes != step.bytes) {
    return Status::format(Code::kInternal, "{} meets a message of another size: {}",
                          step_text(schedules_, rank, at),
                          step_text(schedules_, message.sender, message.step));
  }
  memories_.clocks().acquire(rank, message.released);
  if (step.bytes > 0) {
    TUTTI_RETURN_IF_ERROR(memories_.write(rank, at, step.dst, message.runs));
  }
  message.received = true;
  first = message.next;
  message.runs = {};
  return Outcome::kDone;
}

Execution::Outcome Execution::fence(int rank) {
  std::vector<uint32_t>& sends = rank_of(rank).sends;
  for (const uint32_t id : sends) {
    if (!messages_[id].received) return Outcome::kWaits;
  }
  if (!sends.empty()) memories_.end_sends(rank);
  sends.clear();
  return Outcome::kDone;
}

void Execution::publish(int rank, uint32_t tick) {
  if (tick == 1) memories_.enter(rank);
  rank_of(rank).published.push_back({tick, memories_.clocks().release(rank)});
}

Execution::Outcome Execution::await(int rank, const Step& step) {
  if (step.peer != kAllPeers) {
    return await_one(rank, step.peer, step.tick) ? Outcome::kDone : Outcome::kWaits;
  }
  int& peer = rank_of(rank).awaited;
  for (; peer < problem_.ranks; ++peer) {
    if (peer != rank && !await_one(rank, peer, step.tick)) return Outcome::kWaits;
  }
  peer = 0;
  return Outcome::kDone;
}

// Learns of the earliest tick that satisfies the wait, for no more than that is certain.
bool Execution::await_one(int rank, int peer, uint32_t tick) {
  const std::vector<Published>& published = rank_of(peer).published;
  const auto found = std::ranges::lower_bound(published, tick, {}, &Published::tick);
  if (found == published.end()) return false;
  memories_.clocks().acquire(rank, found->released);
  return true;
}

Status Execution::all_have_entered() const {
  for (int rank = 0; rank < problem_.ranks; ++rank) {
    for (int peer = 0; peer < problem_.ranks; ++peer) {
      if (memories_.clocks().knows(rank, peer, 1)) continue;
      return Status::format(Code::kInternal, "rank {} may leave before rank {} has entered", rank,
                            peer);
    }
  }
  return {};
}

Execution::Wait Execution::wait_of(int r) const {
  const Rank& rank = ranks_[static_cast<size_t>(r)];
  const bool at_end = rank.at == schedule(r).steps.size();
  if (at_end || schedule(r).steps[rank.at].kind == StepKind::kFence) {
    const uint32_t id =
        *std::ranges::find_if(rank.sends, [&](uint32_t send) { return !messages_[send].received; });
    const int peer = schedule(r).steps[messages_[id].step].peer;
    const std::string fence =
        at_end ? "the fence at the end" : fmt::format("the fence in step {}", rank.at);
    return {peer, fmt::format("{} with {}", step_text(schedules_, r, messages_[id].step), fence),
            fmt::format("rank {} ends without receiving it", peer)};
  }
  const std::string here = step_text(schedules_, r, rank.at);
  const Step& step = schedule(r).steps[rank.at];
  if (step.kind == StepKind::kRecv) {
    return {step.peer, here, fmt::format("rank {} ends without sending it", step.peer)};
  }
  const int peer = step.peer == kAllPeers ? rank.awaited : step.peer;
  const std::vector<Published>& published = ranks_[static_cast<size_t>(peer)].published;
  return {peer, here,
          fmt::format("rank {} ends with tick {}", peer,
                      published.empty() ? 0 : published.back().tick)};
}

// Follows who waits for whom from `first` to a cycle or to a rank that has ended.
Status Execution::deadlock(int first) const {
  std::vector<int> chain;
  int rank = first;
  while (std::ranges::find(chain, rank) == chain.end() &&
         !ranks_[static_cast<size_t>(rank)].ended) {
    chain.push_back(rank);
    rank = wait_of(rank).peer;
  }
  const bool cycle = !ranks_[static_cast<size_t>(rank)].ended;
  const auto begin = cycle ? std::ranges::find(chain, rank) : chain.end() - 1;
  std::string text = fmt::format("{} never ends: ", wait_of(*begin).what);
  if (!cycle) return {Code::kInternal, text + wait_of(*begin).if_ended};
  constexpr std::ptrdiff_t kMostShown = 6;
  for (auto it = begin; it != chain.end(); ++it) {
    if (it - begin == kMostShown) return {Code::kInternal, text + "and so on in a circle"};
    const Wait wait = wait_of(*it);
    const Wait next = wait_of(wait.peer);
    text += it == begin ? "it waits for " : ", which waits for ";
    text += next.what;
  }
  return {Code::kInternal, text};
}

}  // namespace

Status run_schedules(std::span<const Schedule> schedules, const Problem& problem,
                     RankMemories& memories, Values& values) {
  return Execution(schedules, problem, memories, values).run();
}

}  // namespace tutti
