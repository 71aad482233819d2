// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a communicator runs its calls with, made from its connection: lanes, and what plans are made
// of, for all ranks and for the scopes of compositions.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "comm/connect.hpp"
#include "exec/executor.hpp"
#include "select/selector.hpp"
#include "select/tuning_file.hpp"

namespace tutti {

// What choices depend on, the same on all ranks of the host.
struct ChoiceSettings {
  const Environment& environment;
  bool strict;
  tutti_tuner tuner;
  const FoundTuning& tuning;
  const std::optional<NetworkFigures>& network;  // there if ranks are on several hosts
  int local_ranks;
  int cores;
  bool oversubscribed;                    // the ranks of this host are more than its cores
  const std::vector<int>& cache_domains;  // by rank
  const std::string& name;                // of the communicator
};

class Lanes {
 public:
  // `connection` outlives it.
  static Result<std::unique_ptr<Lanes>> create(Connection& connection, int rank, int ranks,
                                               int count, const ChoiceSettings& choice);

  // Once.
  std::vector<std::unique_ptr<LaneGroup>> take() { return std::move(groups_); }
  [[nodiscard]] const Choose& choose() const { return choose_; }
  // Fills in what the executor must know of hosts and memory. Refers to this object.
  void describe(ExecutorSettings& settings) const;

 private:
  Lanes(Connection& connection, int rank, int ranks);
  Status choose_by(const ChoiceSettings& choice);
  Status choose_in_columns(const ChoiceSettings& choice, const Environment& phases,
                           const Machine& across);
  Status open(int count);
  void join_column();
  void join_parts(int place, const std::vector<int>& column);
  Result<std::unique_ptr<LaneGroup>> open_group(int lane);
  Result<std::unique_ptr<LaneGroup>> open_column(int lane);
  Result<std::unique_ptr<Lane>> open_lane(const PlanContext& context, Transport& transport,
                                          std::vector<int> ranks, int lane);
  Result<std::unique_ptr<Lane>> open_lane(InColumn among, int lane);

  Connection& connection_;
  const int rank_;
  const int ranks_;
  Limits limits_;                       // of the ranks of a host
  std::optional<Hosts> cache_domains_;  // of these, if there are several
  bool can_view_ = false;
  bool oversubscribed_ = false;  // ChoiceSettings::oversubscribed
  Staging staging_ = Staging::kAuto;
  Choose choose_;
  // If the ranks are on several hosts.
  Choose choose_on_host_;
  PlanContext on_host_;
  // Ranks of this rank's column, and what their calls are planned with.
  struct ColumnPart {
    std::unique_ptr<ColumnTransport> transport = {};  // null: this rank has no part in it
    Choose choose = {};
    Choose choose_alone = {};  // if hosts are in groups
    PlanContext context = {};
  };
  [[nodiscard]] ColumnPart& part(InColumn among) { return column_[static_cast<size_t>(among)]; }
  ColumnPart column_[3];  // by InColumn
  std::vector<std::unique_ptr<LaneGroup>> groups_;
};

}  // namespace tutti
