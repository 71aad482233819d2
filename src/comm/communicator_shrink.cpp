// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Makes a communicator of the ranks that are left of another. While others neither come nor end,
// notes say so (exec/wait_reporter.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "comm/communicator.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "exec/call.hpp"
#include "transports/names.hpp"

namespace tutti {
namespace {

constexpr size_t kMostNamed = 4;

// Whether a rank of this host has come to a communicator that is being made, too.
bool has_come(const Notes& notes) {
  const std::optional<Wait> wait = notes.making.read();
  return wait && wait->kind == WaitKind::kMake;
}

class PendingShrink final : public PendingWait {
 public:
  PendingShrink(const WaitReportSettings& settings, const std::function<bool(int)>& is_gone)
      : rank_(settings.rank),
        ranks_(settings.ranks),
        transport_(*settings.transport),
        is_gone_(is_gone) {}
  void fill(Wait& wait) const override;
  void look(Wait& wait) const override;
  [[nodiscard]] std::string what() const override { return "shrink"; }
  [[nodiscard]] std::string whom() const override;

 private:
  [[nodiscard]] std::vector<int> awaited() const;

  const int rank_;
  const int ranks_;
  Transport& transport_;
  const std::function<bool(int)>& is_gone_;
};

// The ranks that are known not to have come. Behind them are those of other hosts, of which that is
// not known.
std::vector<int> PendingShrink::awaited() const {
  std::vector<int> late;
  std::vector<int> elsewhere;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (rank == rank_ || is_gone_(rank)) continue;
    const Notes* const notes = transport_.notes(rank, 0);
    if (notes == nullptr) elsewhere.push_back(rank);
    if (notes != nullptr && !has_come(*notes)) late.push_back(rank);
  }
  late.insert(late.end(), elsewhere.begin(), elsewhere.end());
  return late;
}

void PendingShrink::fill(Wait& wait) const {
  wait.kind = WaitKind::kMake;
  wait.record = {};
  wait.record.detail = static_cast<uint64_t>(Purpose::kShrink);
  wait.record.root = -1;
  wait.record.count = 1;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (rank != rank_ && !is_gone_(rank)) ++wait.record.count;
  }
}

void PendingShrink::look(Wait& wait) const {
  fill(wait);
  const std::vector<int> late = awaited();
  const size_t named = std::min<size_t>(late.size(), Wait::kMostAwaited);
  std::copy_n(late.begin(), named, wait.awaited);
  std::fill(wait.awaited + named, wait.awaited + Wait::kMostAwaited, -1);
}

std::string PendingShrink::whom() const {
  std::string text;
  size_t named = 0;
  for (const int rank : awaited()) {
    if (transport_.notes(rank, 0) == nullptr || ++named > kMostNamed) continue;
    text += fmt::format("{}{} neither goes on nor ends{}", text.empty() ? "" : "; ",
                        name_of(rank, transport_.process(rank)), state_behind(transport_, rank));
  }
  if (named > kMostNamed) text += fmt::format("; and {} more", named - kMostNamed);
  return text.empty() ? "some on other hosts neither go on nor end" : text;
}

// agree_on_survivors(), which is reported if it is long. `is_gone` says whether a rank has died or
// left.
Result<Survivors> find_survivors(Regroup& regroup, const WaitReportSettings& settings,
                                 const std::function<bool(int)>& is_gone, int64_t deadline_ms) {
  const PendingShrink waiting(settings, is_gone);
  Notes* const notes = settings.transport->notes(settings.rank, 0);
  WaitReporter reporter(settings, notes != nullptr ? &notes->making : nullptr);
  ReportedWait reported(reporter, waiting);
  regroup.tell(&reported);
  Result<Survivors> survivors = agree_on_survivors(regroup, settings.rank, deadline_ms);
  regroup.tell(nullptr);
  return survivors;
}

// The limit of the first try, on one host and among several; each later try has twice as long. The
// ranks are all there already, and if one dies on its way, the others are to find out.
constexpr int64_t kFirstTryOnHostMs = 1000;
constexpr int64_t kFirstTryOnHostsMs = 5000;

}  // namespace

Result<std::unique_ptr<Communicator>> Communicator::shrink(const CommunicatorConfig& config) {
  const std::lock_guard lock(shrinking_);
  const std::string context = "shrinking " + name();
  const int64_t limit = config.init_timeout_ms;
  const int64_t deadline_ms = limit == kNever ? kNever : now_ms() + limit;
  int64_t try_ms = parts_.peers->control() == nullptr ? kFirstTryOnHostMs : kFirstTryOnHostsMs;
  for (;; try_ms *= 2) {
    if (interrupted()) parts_.health->interrupt(context);
    if (!cannot_shrink_.ok()) return cannot_shrink_;
    const Result<Survivors> survivors = find_survivors(
        *parts_.peers->regroup(), parts_.executor->settings().wait_report,
        [this](int peer) { return parts_.peers->is_gone(peer); }, deadline_ms);
    if (!survivors.ok()) {
      cannot_shrink_ = survivors.status().with_context(context);
      continue;
    }
    log::info("{} goes on as {}, with {} of {} ranks", parts_.config.name, config.name,
              survivors->ranks.size(), parts_.ranks);
    CommunicatorConfig tried = config;
    tried.global_ranks = global_ranks_of(survivors->ranks);
    tried.init_timeout_ms = std::clamp<int64_t>(deadline_ms - now_ms(), 1, try_ms);
    const std::vector<int>& ranks = survivors->ranks;
    const auto place = std::ranges::find(ranks, parts_.rank) - ranks.begin();
    auto made = meet(survivors->id,
                     {.rank = static_cast<int>(place), .ranks = static_cast<int>(ranks.size())},
                     {.context = context,
                      .config = tried,
                      .failed = [&] { return parts_.peers->loss_among(ranks); },
                      .ranks = ranks,
                      .by = Purpose::kShrink});
    // The next round is without the ranks that have died since.
    const Code code = made.status().code();
    const bool again = code == Code::kPeerFailed || code == Code::kTimeout;
    if (made.ok()) return made;
    if (!again || interrupted() || now_ms() >= deadline_ms) return made.status();
    log::info("{}; trying again", made.status().message());
  }
}

}  // namespace tutti
