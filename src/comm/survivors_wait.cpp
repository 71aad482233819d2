// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/survivors_wait.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

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

}  // namespace

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

}  // namespace tutti
