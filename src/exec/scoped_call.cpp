// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/scoped_call.hpp"

#include "algorithms/common.hpp"

namespace tutti {
namespace {

Composition in_scope(const Problem& q, Scope scope) {
  Phase phase{.scope = scope,
              .collective = q.collective,
              .begins = true,
              .finishes = true,
              .count = q.count,
              .send = send_at(0),
              .recv = recv_at(0)};
  if (has_root(q.collective)) {
    phase.root = scope == Scope::kColumn ? q.hosts->host(q.root) : q.hosts->place(q.root);
  }
  Composition composition;
  composition.phases.push_back(std::move(phase));
  return composition;
}

Composition in_column(const Problem& q) { return in_scope(q, Scope::kColumn); }
Composition in_host(const Problem& q) { return in_scope(q, Scope::kHost); }

// Nobody chooses these: they have no costs, and collectives of any kind.
constexpr Algorithm scoped(std::string_view name, Composition (*compose)(const Problem&)) {
  return {.name = name,
          .summary = "among some of the ranks",
          .collective = Collective::kBarrier,
          .rank_order = false,
          .applies = nullptr,
          .seconds = nullptr,
          .compose = compose};
}
constexpr Algorithm kOfColumn = scoped("column", in_column);
constexpr Algorithm kOfHost = scoped("host", in_host);

}  // namespace

const Algorithm* algorithm_of_scope(Purpose purpose) {
  if (is_step_on(purpose, Purpose::kInColumn)) return &kOfColumn;
  return is_step_on(purpose, Purpose::kInHost) ? &kOfHost : nullptr;
}

}  // namespace tutti
