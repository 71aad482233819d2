// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The peers of a communicator: who is here, who has died, and what becomes of the news.
#include <unistd.h>

#include <new>
#include <utility>

#include "comm/communicator.hpp"
#include "core/process_state.hpp"
#include "transports/names.hpp"

namespace tutti {

// Watches peers of this host by their processes, and those of other hosts by the control
// connection.
Status Communicator::watch_peers(Exchange& exchange) {
  std::vector<Monitor::Peer> peers;
  for (int peer = 0; peer < ranks_; ++peer) {
    const PeerProcess& process = connection_.transport->process(peer);
    // Ranks may be threads of one process.
    if (peer == rank_ || !is_here(peer) || process.pid == getpid()) continue;
    peers.push_back(watched(peer));
  }
  const bool watches = !peers.empty() || connection_.joined != nullptr;
  if (watches) TUTTI_RETURN_IF_ERROR(runtime_->monitor().begin());
  if (connection_.joined != nullptr) {
    TUTTI_ASSIGN_OR_RETURN(std::unique_ptr<Control> control, exchange.stay());
    if (control == nullptr) {
      return {Code::kUnsupported,
              "the ranks are on several hosts, but met in a way that does not reach beyond one"};
    }
    control_ = std::move(control);
    health_->tell_others_by([this](const Status& cause) { control_->fail(cause); });
  } else {
    // A rank that fails after this round leaves a communicator that others have.
    TUTTI_RETURN_IF_ERROR(exchange.allgather({}).status());
  }
  if (control_ != nullptr) {
    auto regroup = std::make_unique<ControlRegroup>(*control_);
    control_regroup_ = regroup.get();
    regroup_ = std::move(regroup);
  } else {
    regroup_ = regroup_in_memory(rank_, connection_.transport->recovery().regroup_board(),
                                 [this](int peer) { return is_gone(peer); });
  }
  inquiry_token_ =
      runtime_->inquiries().add({.key = key_,
                                 .rank = rank_,
                                 .ranks = ranks_,
                                 .transport = connection_.transport.get(),
                                 .control = control_.get(),
                                 .has_left = [this](int peer) { return has_left(peer); }});
  if (!watches) return {};
  Monitor::ControlWatch watch{-1, nullptr, nullptr};
  if (control_ != nullptr) {
    watch = {control_->fd(), [this] { hear(); }, [this] { control_->look(); }};
  }
  std::function<void()> each_second;
  if (runtime_->trace().wanted()) each_second = [this] { report_->trace_if_quiet(); };
  Result<Monitor::Token> token = runtime_->monitor().watch(
      std::move(peers), [this](int peer) { peer_died(peer); }, std::move(watch),
      connection_.transport->recovery().life_sign(rank_), std::move(each_second));
  if (!token.ok()) {
    health_->fail(token.status());  // tells the others
    return token.status();
  }
  watch_ = *token;
  return {};
}

bool Communicator::is_here(int peer) const {
  if (connection_.joined == nullptr) return true;
  const Hosts& hosts = connection_.joined->hosts();
  return hosts.host(peer) == hosts.host(rank_);
}

bool Communicator::has_left(int peer) const {
  return left_[static_cast<size_t>(peer)] || connection_.transport->recovery().has_left(peer);
}

// Whether a rank has left, or one of this host has died.
bool Communicator::is_gone(int peer) const { return has_left(peer) || has_died(peer); }

Monitor::Peer Communicator::watched(int peer) const {
  const PeerProcess& process = connection_.transport->process(peer);
  return {.pidfd = process.pidfd,
          .pid = process.pid,
          .rank = peer,
          .sign = connection_.transport->recovery().life_sign(peer)};
}

bool Communicator::has_died(int peer) const {
  if (peer == rank_ || connection_.transport->process(peer).pid == getpid()) return false;
  return Monitor::has_ended(watched(peer));
}

Status Communicator::death_of(int peer) const {
  const std::string name = name_of(peer, connection_.transport->process(peer));
  // An exec ends its threads, and that it was a rank.
  Monitor::Peer process = watched(peer);
  process.sign = nullptr;
  const ProcessState state = process_state(process.pid);
  const bool goes_on = state.letter != 0 && !state.ending && !Monitor::has_ended(process);
  return {Code::kPeerFailed, name + (goes_on ? " runs another program now" : " has died")};
}

void Communicator::peer_died(int peer) {
  if (!has_left(peer)) health_->fail(death_of(peer));
}

// The service that keeps ranks in touch knows their numbers here alone.
Status Communicator::in_group(const Status& cause) const {
  if (config_.global_ranks.empty() || cause.message().find("group \"") != std::string_view::npos) {
    return cause;
  }
  return cause.with_context(name());
}

// In the monitor's thread.
void Communicator::hear() {
  for (const ControlNews& news : control_->read()) {
    if (news.kind == ControlNews::Kind::kFailed) health_->learn(in_group(news.cause));
    const bool is_rank = news.rank >= 0 && news.rank < ranks_;
    if (news.kind == ControlNews::Kind::kLeft && is_rank)
      left_[static_cast<size_t>(news.rank)] = true;
    if (news.kind == ControlNews::Kind::kTold) executor_->heard(news.rank, news.note);
    runtime_->inquiries().heard(inquiry_token_, news);
    control_regroup_->heard(news);
  }
}

// Whether the log has to say here what a rank on another host has found out. One host does: that of
// rank 0, unless it is the lost one.
bool Communicator::speaks_for_all() const { return is_here(0) || !control_->is_open(); }

}  // namespace tutti
