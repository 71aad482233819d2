// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A communicator: ranks that are joined by a transport, what runs their calls, carries their
// messages and keeps the first cause of a failure. Others are made of it: of some of its ranks, of
// those that are left, or of more.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "adapt/spread.hpp"
#include "bootstrap/join.hpp"
#include "comm/allocations.hpp"
#include "comm/communicator_config.hpp"
#include "comm/lanes.hpp"
#include "comm/messages.hpp"
#include "comm/peers.hpp"
#include "comm/runtime.hpp"
#include "core/exchange.hpp"
#include "exec/executor.hpp"
#include "exec/health.hpp"

namespace tutti {

// The parts of a communicator in the order in which they are made, each of those before it.
struct CommunicatorParts {
  std::shared_ptr<Runtime> runtime;
  int rank = 0;
  int ranks = 1;
  int job_rank = 0;  // this rank's number in the whole job
  CommunicatorConfig config;
  // What the ranks have agreed on.
  uint64_t key = 0;  // of the communicator, equal on all ranks (comm/settings.hpp)
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

  // ---- its ranks
  [[nodiscard]] int rank() const { return parts_.rank; }
  [[nodiscard]] int ranks() const { return parts_.ranks; }
  [[nodiscard]] const CommunicatorConfig& config() const { return parts_.config; }
  // The communicator in words, for texts.
  [[nodiscard]] std::string name() const;
  // The process of a rank, and the rank in words: "rank 2 (pid 77 on h)".
  [[nodiscard]] const PeerProcess& process(int rank) const { return transport().process(rank); }
  [[nodiscard]] std::string name_of(int rank) const;
  // The hosts of the ranks, if there are several; else null.
  [[nodiscard]] const Hosts* hosts() const {
    const JoinedTransport* const joined = parts_.connection->joined;
    return joined == nullptr ? nullptr : &joined->hosts();
  }
  // Whether all ranks share memory.
  [[nodiscard]] bool shares_memory() const { return transport().shared_memory() != nullptr; }
  // The figures by which algorithms are chosen; none if all ranks are on one host.
  [[nodiscard]] const std::optional<NetworkFigures>& network() const { return parts_.network; }
  // The figures by which calls on devices are planned; equal on all ranks.
  [[nodiscard]] const DeviceFigures& device_figures() const { return parts_.device_figures; }

  // ---- what they do
  // Runs collective calls.
  [[nodiscard]] Executor& executor() { return *parts_.executor; }
  // Carries messages.
  [[nodiscard]] Messages& messages() { return *parts_.messages; }
  // Keeps the first cause of a failure.
  [[nodiscard]] Health& health() { return *parts_.health; }
  // Does what can be done now of all calls and messages.
  void help();
  // Whether none is under way.
  [[nodiscard]] bool idle() const;
  // Whether this thread is in the completion function of one.
  [[nodiscard]] bool in_completion_function() const;
  // Memory for the user, as Allocations says.
  Result<void*> allocate(size_t bytes) { return memory_.allocate(bytes, shared_memory()); }
  Status free(void* memory) { return memory_.free(memory, shared_memory()); }

  // ---- others that are made of it
  // Collective. Null for a negative color.
  Result<std::unique_ptr<Communicator>> split(int color, int key, const CommunicatorConfig& config);
  // Collective over the ranks that have neither died nor closed it, broken or not.
  Result<std::unique_ptr<Communicator>> shrink(const CommunicatorConfig& config);
  // Collective over the ranks and over `newcomers` that join() by `id`, which ranks that do not
  // know it need not give. This one stays as it is.
  Result<std::unique_ptr<Communicator>> grow(const UniqueId* id, int newcomers,
                                             const CommunicatorConfig& config);

  // ---- its end
  // Whether a peer has destroyed the communicator, as far as is known: from the memory of this
  // host, else once the control connection has said so. (Endpoints know it besides, each in the
  // order of its messages.)
  [[nodiscard]] bool has_left(int peer) const { return parts_.peers->has_left(peer); }
  // The time until other ranks hear of an ended call, where the control connection tells them.
  [[nodiscard]] int64_t news_delay_ms() const {
    return parts_.peers->control() == nullptr ? 0 : kControlNewsMs;
  }
  // Ends what is outstanding and tells the peers; the destructor does it otherwise. Then no thread
  // that waited for an operation is in the communicator. If it is not idle(), a thread has not come
  // back from a user's function, and the communicator cannot be destroyed.
  Status close();

 private:
  // Ample for news that come by the control connection.
  static constexpr int64_t kControlNewsMs = 100;

  explicit Communicator(CommunicatorParts parts) : parts_(std::move(parts)) {}
  [[nodiscard]] Transport& transport() const { return *parts_.connection->transport; }
  // The memory that the ranks of this host share.
  [[nodiscard]] SharedMemory& shared_memory() const {
    return *parts_.connection->within().shared_memory();
  }
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

  Allocations memory_;  // first: it outlives what may still use it
  const CommunicatorParts parts_;
  std::mutex shrinking_;
  Status cannot_shrink_;  // guarded by shrinking_
  bool closed_ = false;
};

}  // namespace tutti
