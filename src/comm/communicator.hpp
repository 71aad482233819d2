// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A communicator: ranks that are joined by a transport, and what runs calls on it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "adapt/spread.hpp"
#include "bootstrap/join.hpp"
#include "comm/lanes.hpp"
#include "comm/messages.hpp"
#include "comm/regroup.hpp"
#include "comm/runtime.hpp"
#include "core/exchange.hpp"
#include "exec/executor.hpp"
#include "exec/health.hpp"

namespace tutti {

struct CommunicatorConfig {
  int64_t timeout_ms = kNever;
  int64_t init_timeout_ms = kNever;
  bool strict = false;
  std::string name;
  tutti_tuner tuner = {};  // without a function: none
  // The number of each rank in the whole job, if the communicator has a part of its ranks.
  std::vector<int> global_ranks = {};
};
// The caller's struct (may be null) over the environment's defaults.
Result<CommunicatorConfig> resolve_config(const tutti_comm_config* config,
                                          const Environment& environment);

// Makes an id and starts the service at which its ranks meet, in this process.
Result<tutti_unique_id> open_meeting();

class Communicator {
 public:
  // Collective over `exchange`, within config.init_timeout_ms. `known` are figures of the network
  // between the ranks that need not be measured; what rank 0 knows counts.
  static Result<std::unique_ptr<Communicator>> create(
      std::shared_ptr<Runtime> runtime, Exchange& exchange, const CommunicatorConfig& config,
      std::optional<NetworkFigures> known = std::nullopt);
  ~Communicator();
  // The first words of errors of making a communicator.
  static std::string making(const CommunicatorConfig& config, int rank, int ranks);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] Executor& executor() { return *executor_; }
  // The inputs of its plans.
  [[nodiscard]] const Lanes& lanes() const { return *lanes_; }
  [[nodiscard]] Messages& messages() { return *messages_; }
  [[nodiscard]] Health& health() { return *health_; }
  [[nodiscard]] Transport& transport() { return *connection_.transport; }
  // The memory that the ranks of this host share.
  [[nodiscard]] SharedMemory& shared_memory() { return *connection_.within().shared_memory(); }
  [[nodiscard]] const CommunicatorConfig& config() const { return config_; }
  // For texts.
  [[nodiscard]] std::string name() const;
  // The hosts of the ranks, if there are several; else null.
  [[nodiscard]] const Hosts* hosts() const {
    return connection_.joined == nullptr ? nullptr : &connection_.joined->hosts();
  }
  // The figures by which algorithms are chosen; none if all ranks are on one host.
  [[nodiscard]] const std::optional<NetworkFigures>& network() const { return network_; }
  // The figures by which calls on devices are planned; equal on all ranks.
  [[nodiscard]] const DeviceFigures& device_figures() const { return device_figures_; }

  // Collective. Null for a negative color.
  Result<std::unique_ptr<Communicator>> split(int color, int key, const CommunicatorConfig& config);
  // Collective over the ranks that have neither died nor closed it, broken or not.
  Result<std::unique_ptr<Communicator>> shrink(const CommunicatorConfig& config);
  // Collective over the ranks and over `newcomers` that join() by `id`, which ranks that do not
  // know it need not give. This one stays as it is.
  Result<std::unique_ptr<Communicator>> grow(const UniqueId* id, int newcomers,
                                             const CommunicatorConfig& config);
  // Whether a peer has destroyed the communicator, as far as is known: from the memory of this
  // host, else once the control connection has said so. (Endpoints know it besides, each in the
  // order of its messages.)
  [[nodiscard]] bool has_left(int peer) const;
  // For calls of which others than this rank are told by another way than its leaving: how long
  // that may take.
  [[nodiscard]] int64_t news_delay_ms() const { return control_ == nullptr ? 0 : 100; }
  // Ends what is outstanding and tells the peers; the destructor does it otherwise. Then no thread
  // that waited for an operation is in the communicator. If the executor or the messages are not
  // idle(), a thread has not come back from a user's function, and the communicator cannot be
  // destroyed.
  Status close();

 private:
  Communicator(std::shared_ptr<Runtime> runtime, Exchange& exchange,
               const CommunicatorConfig& config);
  [[nodiscard]] TransportConfig transport_config_of(const PlanInputs& inputs) const;
  Status connect(Exchange& exchange, std::optional<NetworkFigures> known);
  Status learn_network(Exchange& exchange, PlanInputs& inputs, int64_t deadline_ms);
  [[nodiscard]] std::optional<NetworkFigures> network_to_inherit() const;
  Status make_executor(WorkerPool& workers, const PlanInputs& inputs);
  std::vector<std::unique_ptr<LaneGroup>> traced(std::vector<std::unique_ptr<LaneGroup>> lanes);
  void spread_over(int cores);
  Status watch_peers(Exchange& exchange);
  [[nodiscard]] bool is_here(int peer) const;
  [[nodiscard]] bool is_gone(int peer) const;
  [[nodiscard]] bool has_died(int peer) const;
  [[nodiscard]] Monitor::Peer watched(int peer) const;
  // Makes a communicator with ranks of this one, unless failed() gives an error meanwhile. If this
  // rank is interrupted, this communicator is, too.
  struct Making {
    std::string context;
    const CommunicatorConfig& config;
    std::function<Status()> failed;
    std::vector<int> ranks;  // of this one
    Purpose by;
  };
  Result<std::unique_ptr<Communicator>> meet(const UniqueId& id, const Joiner& joiner,
                                             const Making& making) const;
  [[nodiscard]] std::vector<int> global_ranks_of(std::vector<int> ranks) const;
  [[nodiscard]] Status in_group(const Status& cause) const;
  [[nodiscard]] Status loss_among(const std::vector<int>& ranks) const;
  [[nodiscard]] Status death_of(int peer) const;
  void peer_died(int peer);
  [[nodiscard]] bool speaks_for_all() const;
  void hear();

  const std::shared_ptr<Runtime> runtime_;
  const int rank_;
  const int ranks_;
  const CommunicatorConfig config_;
  // In order of dependence: each uses those before it.
  Connection connection_;
  std::optional<NetworkFigures> network_;
  DeviceFigures device_figures_;
  std::unique_ptr<Endpoint> messages_endpoint_;  // until messages_ has it
  std::unique_ptr<Control> control_;             // if the ranks are on several hosts
  std::vector<std::atomic<bool>> left_;          // by rank: what that connection has said
  std::unique_ptr<Report> report_;
  std::unique_ptr<Health> health_;
  std::unique_ptr<Regroup> regroup_;
  ControlRegroup* control_regroup_ = nullptr;  // the same, if there is a control connection
  WaitReportSettings wait_report_;
  std::mutex shrinking_;
  Status cannot_shrink_;  // guarded by shrinking_
  std::unique_ptr<Lanes> lanes_;
  std::unique_ptr<Spread> spread_;  // null: every rank of this host has a core
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Messages> messages_;
  uint64_t key_ = 0;  // the same on all ranks (comm/settings.hpp)
  Inquiries::Token inquiry_token_ = 0;
  Monitor::Token watch_ = 0;
  bool closed_ = false;
};

}  // namespace tutti
