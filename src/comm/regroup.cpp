// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The rounds in which survivors agree, in shared memory and over the control connection.
#include "comm/regroup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "bootstrap/opened_meeting.hpp"
#include "core/interrupt.hpp"
#include "core/wait.hpp"

namespace tutti {
namespace {

// How often a rank looks whether the others have come or died: nobody is in a hurry here.
constexpr std::chrono::milliseconds kLookEvery{1};
// At a deadline, for the service to say who is missing.
constexpr std::chrono::milliseconds kAnswer{500};
// How often a rank that the service will wake looks at its deadline and at signals.
constexpr std::chrono::milliseconds kCheckEvery{10};
// Grace for news that were sent before the connection closed: another thread has yet to take them
// in.
constexpr std::chrono::milliseconds kLastNews{100};

// ---- in memory ---------------------------------------------------------------------------------

class MemoryRegroup final : public Regroup {
 public:
  MemoryRegroup(int rank, RegroupBoard board, std::function<bool(int rank)> is_gone)
      : rank_(rank), board_(board), is_gone_(std::move(is_gone)) {}
  Result<Contributions> round(std::span<const std::byte> mine, int64_t deadline_ms) override;
  void give_up() override { sign(rank_).round.store(kNoMore, std::memory_order_release); }

 private:
  static constexpr uint32_t kNoMore = ~uint32_t{0};
  static constexpr uint32_t kWithdrew = kNoMore - 1;  // at its deadline

  [[nodiscard]] RegroupSign& sign(size_t rank) const { return board_.signs[rank]; }
  [[nodiscard]] RegroupSign& sign(int rank) const { return sign(static_cast<size_t>(rank)); }
  [[nodiscard]] bool is_decided(uint32_t round) const {
    return board_.decision->round.load(std::memory_order_acquire) == round;
  }
  [[nodiscard]] bool is_gone(size_t rank) const;
  [[nodiscard]] std::vector<size_t> awaited(uint32_t round) const;
  [[nodiscard]] bool may_decide(uint32_t round) const;
  [[nodiscard]] Contributions contributions(uint32_t round) const;
  void decide(uint32_t round) const;
  [[nodiscard]] Status late(const std::vector<size_t>& missing) const;

  const int rank_;
  const RegroupBoard board_;
  const std::function<bool(int rank)> is_gone_;
};

bool MemoryRegroup::is_gone(size_t rank) const {
  return sign(rank).round.load(std::memory_order_acquire) == kNoMore ||
         is_gone_(static_cast<int>(rank));
}

// The ranks that are left and have not come, followed by those that came and gave up waiting.
std::vector<size_t> MemoryRegroup::awaited(uint32_t round) const {
  std::vector<size_t> ranks;
  std::vector<size_t> withdrew;
  for (size_t rank = 0; rank < board_.signs.size(); ++rank) {
    const uint32_t at = sign(rank).round.load(std::memory_order_acquire);
    if (at == round || is_gone(rank)) continue;
    (at == kWithdrew ? withdrew : ranks).push_back(rank);
  }
  ranks.insert(ranks.end(), withdrew.begin(), withdrew.end());
  return ranks;
}

// Makes this rank the one that decides, if nobody else who lives is.
bool MemoryRegroup::may_decide(uint32_t round) const {
  uint64_t seen = board_.decision->coordinator.load(std::memory_order_acquire);
  if (seen >> 32 == round && !is_gone((seen & UINT32_MAX) - 1)) return false;
  const uint64_t own = uint64_t{round} << 32 | static_cast<uint64_t>(rank_ + 1);
  return seen >> 32 <= round && board_.decision->coordinator.compare_exchange_strong(seen, own);
}

void MemoryRegroup::decide(uint32_t round) const {
  for (size_t rank = 0; rank < board_.signs.size(); ++rank) {
    const bool comes = sign(rank).round.load(std::memory_order_acquire) == round && !is_gone(rank);
    sign(rank).taken.store(comes ? round : 0, std::memory_order_relaxed);
  }
  board_.decision->round.store(round, std::memory_order_release);
}

Status MemoryRegroup::late(const std::vector<size_t>& missing) const {
  if (missing.empty()) {
    const uint64_t seen = board_.decision->coordinator.load(std::memory_order_acquire);
    return Status::format(Code::kTimeout,
                          "all ranks came, but none has decided who is left: it was up to rank {} "
                          "of {}, or the shared state is corrupt",
                          static_cast<int64_t>(seen & UINT32_MAX) - 1, board_.signs.size());
  }
  return Status::format(Code::kTimeout, "{} of {} ranks neither went on nor ended, rank {} first",
                        missing.size(), board_.signs.size(), missing.front());
}

Regroup::Contributions MemoryRegroup::contributions(uint32_t round) const {
  Contributions contributions;
  for (size_t rank = 0; rank < board_.signs.size(); ++rank) {
    const RegroupSign& other = sign(rank);
    if (other.taken.load(std::memory_order_relaxed) != round) continue;
    const std::byte* const begin = other.contribution[round % 2];
    contributions[static_cast<int>(rank)].assign(begin, begin + other.bytes[round % 2]);
  }
  return contributions;
}

Result<Regroup::Contributions> MemoryRegroup::round(std::span<const std::byte> mine,
                                                    int64_t deadline_ms) {
  if (mine.size() > RegroupSign::kMostContributionBytes) {
    return Status::format(Code::kInternal, "{} bytes were given to a round, expected at most {}",
                          mine.size(), RegroupSign::kMostContributionBytes);
  }
  const uint32_t round = board_.decision->round.load(std::memory_order_acquire) + 1;
  RegroupSign& own = sign(rank_);
  // Nobody reads this one any more: a round begins when all have come out of the one before.
  std::copy(mine.begin(), mine.end(), own.contribution[round % 2]);
  own.bytes[round % 2] = static_cast<uint32_t>(mine.size());
  own.round.store(round, std::memory_order_release);
  while (!is_decided(round)) {
    const std::vector<size_t> missing = awaited(round);
    if (missing.empty() && may_decide(round)) {
      decide(round);
      break;
    }
    if (now_ms() >= deadline_ms || must_end_wait()) {
      own.round.store(kWithdrew, std::memory_order_release);
      if (is_decided(round)) break;
      return late(missing);
    }
    report();
    std::this_thread::sleep_for(kLookEvery);
  }
  Contributions all = contributions(round);
  if (!all.contains(rank_)) {
    return Status(Code::kPeerFailed, "the other ranks took this one for dead");
  }
  return all;
}

}  // namespace

std::unique_ptr<Regroup> regroup_in_memory(int rank, RegroupBoard board,
                                           std::function<bool(int rank)> is_gone) {
  return std::make_unique<MemoryRegroup>(rank, board, std::move(is_gone));
}

// ---- over the control connection ---------------------------------------------------------------

Result<Regroup::Contributions> ControlRegroup::round(std::span<const std::byte> mine,
                                                     int64_t deadline_ms) {
  std::unique_lock lock(mutex_);
  over_ = false;
  withdrawal_ = {};
  TUTTI_RETURN_IF_ERROR(control_.regroup(mine));
  while (!over_) {
    changed_.wait_for(lock, kCheckEvery);
    if (over_) break;
    if (!control_.is_open()) {
      // The last news may be on its way still.
      if (changed_.wait_for(lock, kLastNews, [this] { return over_; })) break;
      return control_.regroup(mine);  // says why it cannot
    }
    lock.unlock();
    report();
    const bool goes_on = now_ms() < deadline_ms && !must_end_wait();
    lock.lock();
    if (goes_on || over_) continue;
    control_.withdraw();
    changed_.wait_for(lock, kAnswer, [this] { return over_ || !withdrawal_.ok(); });
    if (over_) break;
    if (!withdrawal_.ok()) return withdrawal_;
    return Status(Code::kTimeout, "some ranks neither went on nor ended");
  }
  return last_;
}

void ControlRegroup::heard(const ControlNews& news) {
  const std::lock_guard lock(mutex_);
  switch (news.kind) {
    case ControlNews::Kind::kContribution: coming_[news.rank] = news.body; return;
    case ControlNews::Kind::kRegrouped:
      last_ = std::exchange(coming_, {});
      over_ = true;
      break;
    case ControlNews::Kind::kWithdrawn:
      withdrawal_ = Status::format(Code::kTimeout,
                                   "{} of the others neither went on nor ended, rank {} first",
                                   news.count, news.rank);
      break;
    default: return;
  }
  changed_.notify_all();
}

// ---- survivors ---------------------------------------------------------------------------------

// The first one tells of it in its second round.
static_assert(sizeof(OpenedMeeting) <= RegroupSign::kMostContributionBytes);
static_assert(sizeof(OpenedMeeting) <= kMostNewsBytes);

Result<Survivors> agree_on_survivors(Regroup& regroup, int rank, int64_t deadline_ms) {
  std::optional<OpenedMeeting> mine;
  for (;;) {
    const auto given = mine.has_value() ? bytes_of(*mine) : std::span<const std::byte>{};
    TUTTI_ASSIGN_OR_RETURN(const Regroup::Contributions contributions,
                           regroup.round(given, deadline_ms));
    const auto& [first, said] = *contributions.begin();
    if (said.size() != sizeof(OpenedMeeting)) {
      if (first == rank) mine = open_meeting(make_unique_id(), kNever);
      continue;
    }
    OpenedMeeting place;
    std::memcpy(&place, said.data(), sizeof place);
    TUTTI_ASSIGN_OR_RETURN(UniqueId id, id_of(place, first));
    Survivors survivors{.ranks = {}, .id = std::move(id)};
    for (const auto& [survivor, contribution] : contributions) survivors.ranks.push_back(survivor);
    return survivors;
  }
}

}  // namespace tutti
