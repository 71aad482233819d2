// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/wait_reporter.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <string_view>

#include "core/fields.hpp"
#include "core/log.hpp"
#include "core/process_state.hpp"
#include "core/stamp.hpp"
#include "transports/names.hpp"

namespace tutti {
namespace {

// The wait before it is first found out for whom, which allocates; then kLookEveryMs.
constexpr int64_t kLookAfterMs = 100;
// The wait before those who are waited for are told.
constexpr int64_t kTellAfterMs = 1000;
// Ranks of other hosts warn this much later than those of rank 0's host. So they can see its
// warning and stay silent.
constexpr int64_t kElsewhereLaterMs = kLookEveryMs + 100;
// Ranks in a line of the log.
constexpr size_t kMostLate = 4;

int32_t this_thread() {
  thread_local const int32_t number = gettid();
  return number;
}

}  // namespace

void WaitReporter::report(const PendingWait& waiting) {
  const int64_t now_ms = rough_host_ms();  // clock that other processes read, too
  if (wait_.since_ms != 0 && now_ms < next_look_ms_) return;
  if (wait_.since_ms != 0) return look(waiting, now_ms);
  wait_ = {};
  wait_.thread = this_thread();
  wait_.since_ms = std::max<int64_t>(now_ms, 1);
  waiting.fill(wait_);
  if (note_ != nullptr) note_->post(wait_);
  next_look_ms_ = now_ms + kLookAfterMs;
  if (settings_.warn_after_ms == 0) {
    next_warning_ms_ = kNever;
    return;
  }
  const int64_t later_ms = is_beside_rank_0(settings_.rank) ? 0 : kElsewhereLaterMs;
  next_warning_ms_ = settings_.warn_after_ms + later_ms;
}

bool WaitReporter::end() {
  was_reported_ = wait_.since_ms != 0;
  if (!was_reported_) return false;
  wait_.since_ms = 0;
  if (note_ != nullptr) note_->post({});
  return true;
}

// A lack of memory must not end what only takes long.
void WaitReporter::look(const PendingWait& waiting, int64_t now_ms) {
  next_look_ms_ = now_ms + kLookEveryMs;
  try {
    waiting.look(wait_);
    wait_.looked_after_ms = static_cast<uint32_t>(now_ms - wait_.since_ms);
    if (note_ != nullptr) note_->post(wait_);
    if (now_ms - wait_.since_ms >= kTellAfterMs) waiting.tell();
    if (now_ms - wait_.since_ms < next_warning_ms_) {
      const int64_t until_warning_ms = next_warning_ms_ - (now_ms - wait_.since_ms);
      next_look_ms_ = now_ms + std::min(kLookEveryMs, until_warning_ms);
      if (until_warning_ms <= kLookEveryMs && !another_says_it(waiting, now_ms)) waiting.ask();
      return;
    }
    next_warning_ms_ *= 2;
    if (!another_says_it(waiting, now_ms)) warn(waiting, now_ms);
  } catch (const std::bad_alloc&) {
  }
}

void WaitReporter::warn(const PendingWait& waiting, int64_t now_ms) const {
  const PeerProcess& process = settings_.transport->process(settings_.rank);
  log::warn("\"{}\": {} has waited {:.1f} s in {}: {} (look closer: tutti why {})",
            settings_.communicator, short_name_of(settings_.rank, process),
            static_cast<double>(now_ms - wait_.since_ms) / 1000, waiting.what(), waiting.whom(),
            getpid());
}

// Whether a rank of rank 0's host says it, else a lower one. One that has asked longer ago may have
// stopped waiting since.
bool WaitReporter::another_host_says_it(const PendingWait& waiting, int64_t now_ms) const {
  if (is_beside_rank_0(settings_.rank)) return false;
  const int64_t since_ms = now_ms - (now_ms - wait_.since_ms) * 3 / 4;
  return std::ranges::any_of(waiting.askers(since_ms), [this](int asker) {
    return is_beside_rank_0(asker) || asker < settings_.rank;
  });
}

// Whether another host says it, or a lower rank of this host that waits as long and is able to.
bool WaitReporter::another_says_it(const PendingWait& waiting, int64_t now_ms) const {
  if (another_host_says_it(waiting, now_ms)) return true;
  for (int rank = 0; rank < settings_.rank; ++rank) {
    const std::optional<Wait> theirs = wait_of(*settings_.transport, rank);
    if (!theirs || theirs->kind == WaitKind::kFunction) continue;
    if (now_ms - theirs->since_ms < settings_.warn_after_ms / 2) continue;
    const ProcessState state = process_state(settings_.transport->process(rank).pid);
    if (!state.dead() && !state.stopped()) return true;
  }
  return false;
}

// ---- calls -------------------------------------------------------------------------------------

void PendingCall::fill(Wait& wait) const {
  wait.kind = WaitKind::kCall;
  wait.record = record_;
  wait.started = started_ ? 1 : 0;
}

void PendingCall::look(Wait& wait) const {
  uint32_t found = 0;
  lanes_.for_each_awaited([&](int rank) {
    if (found < Wait::kMostAwaited) wait.awaited[found++] = rank;
  });
  std::fill(wait.awaited + found, wait.awaited + Wait::kMostAwaited, -1);
  wait.host[0] = '\0';
  if (found == 0 || journal_ == nullptr) return;
  if (transport_.notes(wait.awaited[0], 0) != nullptr) return;  // it is here
  set_place(wait, transport_.process(wait.awaited[0]));
  const std::optional<CallRecord> told = journal_->last_told_by(wait.awaited[0]);
  wait.has_told = told ? 1 : 0;
  if (told) wait.last = *told;
}

void PendingCall::tell() const {
  if (journal_ == nullptr) return;
  lanes_.for_each_awaited([this](int rank) { journal_->wait_for(rank, record_.sequence); });
}

void PendingCall::ask() const {
  if (journal_ != nullptr) journal_->ask_all();
}

std::vector<int> PendingCall::askers(int64_t since_ms) const {
  return journal_ == nullptr ? std::vector<int>{} : journal_->askers(record_.sequence, since_ms);
}

// A lane among several hosts knows its neighbour only, which may itself wait for the late one. The
// late one has not answered that it has made the call.
std::string PendingCall::whom() const {
  if (journal_ == nullptr) return lanes_.blocked_on();
  const Journal::Answers answers = journal_->answers(record_.sequence);
  std::string text;
  size_t named = 0;
  for (const auto& [rank, last] : answers.late) {
    if (++named > kMostLate)
      return text + fmt::format("; and {} more", answers.late.size() - kMostLate);
    const bool here = transport_.notes(rank, 0) != nullptr;
    text += fmt::format("{}{} has not entered the call; its last was {}{}",
                        text.empty() ? "" : "; ", name_of(rank, transport_.process(rank)),
                        last.sequence == 0 ? "none" : describe(last),
                        here ? state_behind(transport_, rank) : "");
  }
  return text.empty() ? lanes_.blocked_on() : text;
}

void set_place(Wait& wait, const PeerProcess& process) {
  wait.pid = process.own_pid;
  put_text(wait.host, process.host);
}

std::optional<Wait> wait_of(Transport& transport, int rank) {
  const Notes* const notes = transport.notes(rank, 0);
  if (notes == nullptr) return std::nullopt;
  std::optional<Wait> wait = notes->call.read();
  for (const WaitNote& message : notes->messages) {
    if (wait && wait->kind != WaitKind::kNone) return wait;
    wait = message.read();
  }
  if (wait && wait->kind == WaitKind::kNone) wait = notes->making.read();
  if (wait && wait->kind == WaitKind::kNone) wait.reset();
  return wait;
}

// ---- texts -------------------------------------------------------------------------------------

std::string ago(uint64_t stamp) {
  constexpr double kMomentS = 0.5;
  const double seconds = seconds_since(stamp);
  return seconds < kMomentS ? "" : fmt::format(", {:.1f} s ago", seconds);
}

std::string state_behind(Transport& transport, int rank) {
  const ProcessState state = process_state(transport.process(rank).pid);
  const std::optional<Wait> wait = wait_of(transport, rank);
  if (wait && !state.dead() && !state.stopped()) {
    return (wait->kind == WaitKind::kFunction ? "; it is in " : "; it waits in ") + describe(*wait);
  }
  const std::string text = to_string(state);
  return text.empty() ? "" : "; it " + text;
}

namespace {

// "(4 float32 from rank 1, tag 8)".
std::string describe_message(const CallRecord& message, bool sends) {
  const std::string type = message.type < kDataTypes
                               ? std::string(type_name(static_cast<DataType>(message.type)))
                               : fmt::format("type {}", message.type);
  const std::string peer = message.root < 0 ? "any rank" : fmt::format("rank {}", message.root);
  const std::string tag =
      message.detail == UINT64_MAX ? "any tag" : fmt::format("tag {}", message.detail);
  return fmt::format("({} {} {} {}, {})", message.count, type, sends ? "to" : "from", peer, tag);
}

}  // namespace

std::string describe_unexpected(const CallRecord& message) {
  return "; a message has come that no receive takes " + describe_message(message, false);
}

// The wait may have been written by another process: nothing in it can be trusted.
std::string describe(const Wait& wait) {
  if (wait.kind == WaitKind::kCall) return describe(wait.record);
  if (wait.kind == WaitKind::kFunction) return "the user's function of " + describe(wait.record);
  if (wait.kind == WaitKind::kMake) {
    constexpr std::string_view kBy[] = {"", " by split", " by grow", " by shrink"};
    const uint64_t purpose = wait.record.detail;
    return fmt::format("the making of a communicator of {} ranks{}", wait.record.count,
                       purpose < std::size(kBy) ? kBy[purpose] : "");
  }
  if (wait.kind != WaitKind::kSend && wait.kind != WaitKind::kRecv) return "";
  const bool sends = wait.kind == WaitKind::kSend;
  return (sends ? "send " : "recv ") + describe_message(wait.record, sends);
}

}  // namespace tutti
