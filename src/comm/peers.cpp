// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/peers.hpp"

#include <unistd.h>

#include <utility>

#include "core/process_state.hpp"
#include "transports/names.hpp"

namespace tutti {

Peers::Peers(Runtime& runtime, const Connection& connection, Health& health, int rank, int ranks,
             std::string group)
    : runtime_(runtime),
      connection_(connection),
      transport_(*connection.transport),
      health_(health),
      rank_(rank),
      ranks_(ranks),
      group_(std::move(group)),
      left_(static_cast<size_t>(ranks)) {}

Peers::~Peers() {
  runtime_.inquiries().remove(inquiry_token_);
  stop();
}

Status Peers::watch(Exchange& exchange, uint64_t key, Executor& executor, Report& report) {
  std::vector<Monitor::Peer> here = watched_here();
  const bool watches = !here.empty() || connection_.joined != nullptr;
  if (watches) TUTTI_RETURN_IF_ERROR(runtime_.monitor().begin());
  TUTTI_RETURN_IF_ERROR(stay_in_touch(exchange));
  inquiry_token_ =
      runtime_.inquiries().add({.key = key,
                                .rank = rank_,
                                .ranks = ranks_,
                                .transport = &transport_,
                                .control = control_.get(),
                                .has_left = [this](int peer) { return has_left(peer); }});
  if (!watches) return {};
  Monitor::ControlWatch control{-1, nullptr, nullptr};
  if (control_ != nullptr) {
    control = {control_->fd(), [this, &executor] { hear(executor); }, [this] { control_->look(); }};
  }
  std::function<void()> each_second;
  if (runtime_.trace().wanted()) each_second = [&report] { report.trace_if_quiet(); };
  const auto died = [this](int peer) {
    if (!has_left(peer)) health_.fail(death_of(peer));
  };
  Result<Monitor::Token> token =
      runtime_.monitor().watch(std::move(here), died, std::move(control),
                               transport_.recovery().life_sign(rank_), std::move(each_second));
  if (!token.ok()) {
    health_.fail(token.status());  // tells the others
    return token.status();
  }
  watch_ = *token;
  return {};
}

void Peers::stop() {
  if (watch_ != 0) runtime_.monitor().remove(std::exchange(watch_, 0));
}

// The other processes of this host. Ranks may be threads of one process.
std::vector<Monitor::Peer> Peers::watched_here() const {
  std::vector<Monitor::Peer> here;
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_ || !is_here(peer) || transport_.process(peer).pid == getpid()) continue;
    here.push_back(watched(peer));
  }
  return here;
}

Status Peers::stay_in_touch(Exchange& exchange) {
  if (connection_.joined == nullptr) {
    // A rank that fails after this round leaves a communicator that others have.
    TUTTI_RETURN_IF_ERROR(exchange.allgather({}).status());
    regroup_ = regroup_in_memory(rank_, transport_.recovery().regroup_board(),
                                 [this](int peer) { return is_gone(peer); });
    return {};
  }
  TUTTI_ASSIGN_OR_RETURN(std::unique_ptr<Control> control, exchange.stay());
  if (control == nullptr) {
    return {Code::kUnsupported,
            "the ranks are on several hosts, but met in a way that does not reach beyond one"};
  }
  control_ = std::move(control);
  health_.tell_others_by([this](const Status& cause) { control_->fail(cause); });
  auto regroup = std::make_unique<ControlRegroup>(*control_);
  control_regroup_ = regroup.get();
  regroup_ = std::move(regroup);
  return {};
}

bool Peers::is_here(int peer) const {
  if (connection_.joined == nullptr) return true;
  const Hosts& hosts = connection_.joined->hosts();
  return hosts.host(peer) == hosts.host(rank_);
}

bool Peers::has_left(int peer) const {
  return left_[static_cast<size_t>(peer)] || transport_.recovery().has_left(peer);
}

Monitor::Peer Peers::watched(int peer) const {
  const PeerProcess& process = transport_.process(peer);
  return {.pidfd = process.pidfd,
          .pid = process.pid,
          .rank = peer,
          .sign = transport_.recovery().life_sign(peer)};
}

bool Peers::has_died(int peer) const {
  if (peer == rank_ || transport_.process(peer).pid == getpid()) return false;
  return Monitor::has_ended(watched(peer));
}

Status Peers::death_of(int peer) const {
  const std::string name = name_of(peer, transport_.process(peer));
  // An exec ends its threads, and that it was a rank.
  Monitor::Peer process = watched(peer);
  process.sign = nullptr;
  const ProcessState state = process_state(process.pid);
  const bool goes_on = state.letter != 0 && !state.ending && !Monitor::has_ended(process);
  return {Code::kPeerFailed, name + (goes_on ? " runs another program now" : " has died")};
}

Status Peers::loss_among(const std::vector<int>& ranks) const {
  for (const int peer : ranks) {
    if (is_here(peer) && has_died(peer)) return death_of(peer);
  }
  return {};
}

// The service that keeps ranks in touch knows their numbers here alone.
Status Peers::in_group(const Status& cause) const {
  const bool is_said = cause.message().find("group \"") != std::string_view::npos;
  return group_.empty() || is_said ? cause : cause.with_context(group_);
}

// Runs in the monitor's thread.
void Peers::hear(Executor& executor) {
  for (const ControlNews& news : control_->read()) {
    if (news.kind == ControlNews::Kind::kFailed) health_.learn(in_group(news.cause));
    const bool is_rank = news.rank >= 0 && news.rank < ranks_;
    if (news.kind == ControlNews::Kind::kLeft && is_rank)
      left_[static_cast<size_t>(news.rank)] = true;
    if (news.kind == ControlNews::Kind::kTold) executor.heard(news.rank, news.body);
    runtime_.inquiries().heard(inquiry_token_, news);
    control_regroup_->heard(news);
  }
}

}  // namespace tutti
