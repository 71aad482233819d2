// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Communicators that are made of another: split off, or grown.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "bootstrap/join.hpp"
#include "bootstrap/opened_meeting.hpp"
#include "comm/communicator.hpp"
#include "comm/settings.hpp"
#include "core/interrupt.hpp"

namespace tutti {

// The numbers of ranks of this communicator in the whole job.
std::vector<int> Communicator::global_ranks_of(std::vector<int> ranks) const {
  if (parts_.config.global_ranks.empty()) return ranks;
  for (int& rank : ranks) rank = parts_.config.global_ranks[static_cast<size_t>(rank)];
  return ranks;
}

namespace {

// Tells who looks from outside that this rank waits for these.
class MakingNote {
 public:
  MakingNote(Notes* notes, const Joiner& joiner, int rank, const std::vector<int>& ranks,
             Purpose by)
      : notes_(notes) {
    if (notes_ == nullptr) return;
    Wait wait;
    wait.kind = WaitKind::kMake;
    wait.thread = gettid();
    wait.since_ms = host_ms();
    wait.record.count = static_cast<size_t>(joiner.ranks);
    wait.record.detail = static_cast<uint64_t>(by);
    wait.record.root = -1;
    uint32_t named = 0;
    for (const int other : ranks) {
      if (other != rank && named < Wait::kMostAwaited) wait.awaited[named++] = other;
    }
    notes_->making.post(wait);
  }
  ~MakingNote() {
    if (notes_ != nullptr) notes_->making.post({});
  }
  MakingNote(const MakingNote&) = delete;

 private:
  Notes* const notes_;
};

}  // namespace

Result<std::unique_ptr<Communicator>> Communicator::meet(const UniqueId& id, const Joiner& joiner,
                                                         const Making& how) const {
  EndsWaits scope(how.failed, [&] { parts_.health->interrupt(how.context); });
  const MakingNote note(parts_.connection->transport->notes(parts_.rank, 0), joiner, parts_.rank,
                        how.ranks, how.by);
  const int64_t limit = how.config.init_timeout_ms;
  auto exchange = join(id, joiner, limit == kNever ? kNever : now_ms() + limit);
  if (!exchange.ok()) {
    const Status why = exchange.status();
    return scope
        .instead_of(why.with_context(making(how.config, joiner.rank, joiner.ranks)),
                    news_delay_ms())
        .with_context(how.context);
  }
  auto made = create(parts_.runtime, **exchange, how.config, network_to_inherit());
  if (made.ok()) return made;
  return scope.instead_of(made.status(), news_delay_ms()).with_context(how.context);
}

// ---- splitting ---------------------------------------------------------------------------------

namespace {

// A rank's contribution to a split.
struct ColorAndKey {
  int32_t color;
  int32_t key;
};

// The ranks of `color`, in the order of the new communicator.
std::vector<int> members_of(const std::vector<ColorAndKey>& places, int color) {
  std::vector<int> members;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].color == color) members.push_back(static_cast<int>(i));
  }
  std::stable_sort(members.begin(), members.end(), [&places](int a, int b) {
    return places[static_cast<size_t>(a)].key < places[static_cast<size_t>(b)].key;
  });
  return members;
}

// Every rank's `mine`, in rank order.
template <typename Entry>
Result<std::vector<Entry>> gather_all(Executor& executor, int ranks, const Entry& mine,
                                      Purpose purpose) {
  std::vector<Entry> entries(static_cast<size_t>(ranks));
  Call call;
  call.collective = Collective::kAllgather;
  call.purpose = purpose;
  call.count = sizeof mine;
  call.send = &mine;
  call.recv = entries.data();
  TUTTI_RETURN_IF_ERROR(executor.run(call));
  return entries;
}

}  // namespace

Result<std::unique_ptr<Communicator>> Communicator::split(int color, int key,
                                                          const CommunicatorConfig& config) {
  const std::string context = "split of " + name();
  const auto places = gather_all(*parts_.executor, parts_.ranks,
                                 ColorAndKey{.color = color, .key = key}, Purpose::kSplit);
  if (!places.ok()) return places.status().with_context(context);
  const std::vector<int> members = color < 0 ? std::vector<int>{} : members_of(*places, color);

  OpenedMeeting mine;
  if (!members.empty() && members.front() == parts_.rank)
    mine = open_meeting(make_unique_id(), kNever);
  const auto meetings = gather_all(*parts_.executor, parts_.ranks, mine, Purpose::kSplit);
  if (!meetings.ok()) return meetings.status().with_context(context);
  if (color < 0) return std::unique_ptr<Communicator>();

  const int first = members.front();
  Result<UniqueId> id = id_of((*meetings)[static_cast<size_t>(first)], first);
  if (!id.ok()) return id.status().with_context(context);
  const auto place = std::find(members.begin(), members.end(), parts_.rank) - members.begin();
  CommunicatorConfig known = config;
  known.global_ranks = global_ranks_of(members);
  return meet(*id, {.rank = static_cast<int>(place), .ranks = static_cast<int>(members.size())},
              {.context = context,
               .config = known,
               .failed = [this] { return parts_.health->cause(); },
               .ranks = members,
               .by = Purpose::kSplit});
}

// ---- growing -----------------------------------------------------------------------------------

namespace {

// A rank's knowledge of the ranks that are to come.
struct GrowthPlan {
  int32_t has_id;
  tutti_unique_id id;
};

}  // namespace

Result<std::unique_ptr<Communicator>> Communicator::grow(const UniqueId* id, int newcomers,
                                                         const CommunicatorConfig& config) {
  const std::string context = "growing " + name();
  GrowthPlan mine{.has_id = id != nullptr ? 1 : 0, .id = {}};
  if (id != nullptr) mine.id = encode(*id);
  const auto plans = gather_all(*parts_.executor, parts_.ranks, mine, Purpose::kGrow);
  if (!plans.ok()) return plans.status().with_context(context);
  const auto first = std::ranges::find(*plans, 1, &GrowthPlan::has_id);
  if (first == plans->end()) {
    return Status::format(Code::kInvalidArgument,
                          "{}: no rank gave an id, expected that of the newcomers from one rank "
                          "or more",
                          context);
  }
  for (auto other = first; other != plans->end(); ++other) {
    if (other->has_id == 0 || std::memcmp(&other->id, &first->id, sizeof first->id) == 0) continue;
    return Status::format(Code::kInvalidArgument, "{}: ranks {} and {} gave different ids", context,
                          first - plans->begin(), other - plans->begin());
  }
  const Result<UniqueId> where = decode(first->id);
  if (!where.ok()) return where.status().with_context(context);
  return meet(*where,
              {.rank = parts_.rank, .ranks = parts_.ranks + newcomers, .newcomers = newcomers},
              {.context = context,
               .config = config,
               .failed = [this] { return parts_.health->cause(); },
               .ranks = {},
               .by = Purpose::kGrow});
}

}  // namespace tutti
