// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// torchrun: TORCHELASTIC_RUN_ID, TORCHELASTIC_RESTART_COUNT, MASTER_ADDR, MASTER_PORT, RANK,
// WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE.
#include "bootstrap/launchers/launchers.hpp"

namespace tutti::launchers {

KnownLauncher torchrun() {
  return {[](const Getter& getter) { return getter("TORCHELASTIC_RUN_ID").has_value(); },
          [](const Getter& getter) -> Result<JobPlace> {
            constexpr Names kNames = {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK",
                                      "LOCAL_WORLD_SIZE"};
            TUTTI_RETURN_IF_ERROR(check_master(getter).with_context("torchrun"));
            // A restarted job is another one: ranks of its earlier life may still be about.
            return place_by(getter, kNames,
                            "torchrun " + value_or_none(getter, "TORCHELASTIC_RUN_ID") + " " +
                                master(getter) + " " +
                                value_or_none(getter, "TORCHELASTIC_RESTART_COUNT"));
          },
          Launcher::kTorchrun};
}

}  // namespace tutti::launchers
