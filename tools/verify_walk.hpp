// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The phases of a composition in an order in which ranks may come to them, for proofs.
#pragma once

#include <span>

#include "algorithms/composition.hpp"
#include "core/status.hpp"

// What becomes of phases.
class PhaseSink {
 public:
  virtual ~PhaseSink() = default;
  // A phase that `ranks` run together: phases[i] is that of ranks[i].
  virtual tutti::Status perform(tutti::Scope scope, std::span<const int> ranks,
                                std::span<const tutti::Phase* const> phases) = 0;
  virtual tutti::Status move(int rank, std::span<const tutti::Move> moves) = 0;
};

// Takes all ranks to the end of their compositions, compositions[r] that of rank r. An error says
// who is in different phases, or who never gets to the end.
tutti::Status walk(const tutti::Hosts& hosts, std::span<const tutti::Composition> compositions,
                   PhaseSink& sink);
