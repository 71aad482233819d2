// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The lanes of a communicator and the inputs of its plans, made from its connection: for all ranks,
// and for the scopes of compositions.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "comm/connect.hpp"
#include "comm/scopes.hpp"
#include "exec/executor.hpp"
#include "select/plan_inputs.hpp"

namespace tutti {

class Lanes {
 public:
  // `connection` outlives it. In the log the communicator is called `name`. How a rank writes what
  // it stages is its own affair.
  static Result<std::unique_ptr<Lanes>> create(Connection& connection, int rank, int ranks,
                                               const PlanInputs& inputs, StoreTarget store_target,
                                               const std::string& name);

  // Hands over the lanes; once.
  std::vector<std::unique_ptr<LaneGroup>> take() { return std::move(groups_); }
  [[nodiscard]] const Choose& choose() const { return choose_; }
  // The inputs of the plans of all ranks' calls, but the number of lanes and the choice. They refer
  // to this object.
  [[nodiscard]] PlanContext context() const;

 private:
  Lanes(Connection& connection, int rank, int ranks, const PlanInputs& inputs,
        StoreTarget store_target);
  Status choose_by(const PlanInputs& inputs, const std::string& name);
  Status open(int count);
  void join_column(JoinedTransport& joined);
  Result<std::unique_ptr<LaneGroup>> open_group(int lane);
  Result<std::unique_ptr<LaneGroup>> open_column(int lane);
  Result<std::unique_ptr<Lane>> open_lane(const PlanContext& context, Transport& transport,
                                          std::vector<int> ranks, int lane);

  Connection& connection_;
  const int rank_;
  const int ranks_;
  const Limits limits_;  // of this host's ranks
  // Cache domains of this host's ranks, if there are several.
  const std::optional<Hosts> cache_domains_;
  const bool can_map_peers_;
  const StoreTarget store_target_;
  Choose choose_;
  // If the ranks are on several hosts.
  ScopeChoices choose_phases_;
  std::optional<Scopes> scopes_;
  // Transports by InColumn; null: this rank has no part in it.
  std::array<std::unique_ptr<ColumnTransport>, 3> column_;
  std::vector<std::unique_ptr<LaneGroup>> groups_;
};

}  // namespace tutti
