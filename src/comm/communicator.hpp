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
#include "comm/peers.hpp"
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

// The parts of a communicator in the order in which they are made, each of those before it.
struct CommunicatorParts {
  std::shared_ptr<Runtime> runtime;
  int rank = 0;
  int ranks = 1;
  int job_rank = 0;  // this rank's number in the whole job
  CommunicatorConfig config;
  // What the ranks have agreed on.
  uint64_t key = 0;  // key of the communicator, equal on all ranks (comm/settings.hpp)
  DeviceFigures device_figures;
  // How they are joined.
  std::unique_ptr<Connection> connection;
  std::unique_ptr<Report> report;
  std::unique_ptr<Health> health;
  std::unique_ptr<Peers> peers;
  std::optional<NetworkFigures> network;
  // What runs calls.
  std::unique_ptr<Lanes> lanes;
  std::unique_ptr<Spread> spread;  // null: every rank of this host has a core
  std::unique_ptr<Executor> executor;
  std::unique_ptr<Messages> messages;
};

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

  [[nodiscard]] int rank() const { return parts_.rank; }
  [[nodiscard]] int ranks() const { return parts_.ranks; }
  [[nodiscard]] Executor& executor() { return *parts_.executor; }
  // The inputs of its plans.
  [[nodiscard]] const Lanes& lanes() const { return *parts_.lanes; }
  [[nodiscard]] Messages& messages() { return *parts_.messages; }
  [[nodiscard]] Health& health() { return *parts_.health; }
  [[nodiscard]] Transport& transport() { return *parts_.connection->transport; }
  // The memory that the ranks of this host share.
  [[nodiscard]] SharedMemory& shared_memory() {
    return *parts_.connection->within().shared_memory();
  }
  [[nodiscard]] const CommunicatorConfig& config() const { return parts_.config; }
  // The communicator in words, for texts.
  [[nodiscard]] std::string name() const;
  // The hosts of the ranks, if there are several; else null.
  [[nodiscard]] const Hosts* hosts() const {
    const JoinedTransport* const joined = parts_.connection->joined;
    return joined == nullptr ? nullptr : &joined->hosts();
  }
  // The figures by which algorithms are chosen; none if all ranks are on one host.
  [[nodiscard]] const std::optional<NetworkFigures>& network() const { return parts_.network; }
  // The figures by which calls on devices are planned; equal on all ranks.
  [[nodiscard]] const DeviceFigures& device_figures() const { return parts_.device_figures; }

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
  [[nodiscard]] bool has_left(int peer) const { return parts_.peers->has_left(peer); }
  // The time until other ranks hear of an ended call, where the control connection tells them.
  [[nodiscard]] int64_t news_delay_ms() const {
    return parts_.peers->control() == nullptr ? 0 : kControlNewsMs;
  }
  // Ends what is outstanding and tells the peers; the destructor does it otherwise. Then no thread
  // that waited for an operation is in the communicator. If the executor or the messages are not
  // idle(), a thread has not come back from a user's function, and the communicator cannot be
  // destroyed.
  Status close();

 private:
  // Ample for news that come by the control connection.
  static constexpr int64_t kControlNewsMs = 100;

  explicit Communicator(CommunicatorParts parts) : parts_(std::move(parts)) {}
  [[nodiscard]] std::optional<NetworkFigures> network_to_inherit() const;
  // Makes a communicator with ranks of this one, unless failed() gives an error meanwhile. If this
  // rank is interrupted, this communicator is, too.
  struct Making {
    std::string context;
    const CommunicatorConfig& config;
    std::function<Status()> failed;
    std::vector<int> ranks;  // numbers of this communicator's ranks
    Purpose by;
  };
  Result<std::unique_ptr<Communicator>> meet(const UniqueId& id, const Joiner& joiner,
                                             const Making& making) const;
  [[nodiscard]] std::vector<int> global_ranks_of(std::vector<int> ranks) const;

  const CommunicatorParts parts_;
  std::mutex shrinking_;
  Status cannot_shrink_;  // guarded by shrinking_
  bool closed_ = false;
};

}  // namespace tutti
