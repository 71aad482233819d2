// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A communicator: ranks that are joined by a transport, and what runs calls on it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "comm/messages.hpp"
#include "comm/runtime.hpp"
#include "core/exchange.hpp"
#include "exec/executor.hpp"
#include "exec/health.hpp"
#include "select/tuning_file.hpp"

namespace tutti {

struct CommunicatorConfig {
  int64_t timeout_ms = kNever;
  int64_t init_timeout_ms = kNever;
  bool strict = false;
  std::string name;
  tutti_tuner tuner = {};  // without a function: none
};
// The caller's struct (may be null) over the environment's defaults.
Result<CommunicatorConfig> resolve_config(const tutti_comm_config* config,
                                          const Environment& environment);

// Makes an id and starts the service at which its ranks meet, in this process.
Result<tutti_unique_id> open_meeting();

class Communicator {
 public:
  // Collective over `exchange`, within config.init_timeout_ms.
  static Result<std::unique_ptr<Communicator>> create(std::shared_ptr<Runtime> runtime,
                                                      Exchange& exchange,
                                                      const CommunicatorConfig& config);
  ~Communicator();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] Executor& executor() { return *executor_; }
  [[nodiscard]] Messages& messages() { return *messages_; }
  [[nodiscard]] Health& health() { return *health_; }
  [[nodiscard]] Transport& transport() { return *transport_; }
  [[nodiscard]] const CommunicatorConfig& config() const { return config_; }

  // Collective. Null for a negative color.
  Result<std::unique_ptr<Communicator>> split(int color, int key, const CommunicatorConfig& config);
  // Ends what is outstanding and tells the peers; the destructor does it otherwise.
  Status close();
  void abort(std::string_view reason);

 private:
  Communicator(std::shared_ptr<Runtime> runtime, Exchange& exchange,
               const CommunicatorConfig& config);
  Status connect(Exchange& exchange);
  Status make_executor(WorkerPool& workers, int local_ranks, int cores,
                       const std::optional<FoundTuning>& tuning);
  Status watch_peers();
  void peer_died(int peer);

  const std::shared_ptr<Runtime> runtime_;
  const int rank_;
  const int ranks_;
  const CommunicatorConfig config_;
  // In order of dependence: each uses those before it.
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Health> health_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Messages> messages_;
  Monitor::Token watch_ = 0;
  bool closed_ = false;
};

}  // namespace tutti
