// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// `tutti run`, which starts the processes of one host; or anybody who sets TUTTI_JOB, RANK,
// WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE. The job's text is a secret if nobody can guess it.
// Two jobs at a time that the user has called the same have different ports.
#include "bootstrap/launchers/launchers.hpp"

namespace tutti::launchers {

KnownLauncher tutti_run() {
  return {[](const Getter& getter) { return getter("TUTTI_JOB").has_value(); },
          [](const Getter& getter) {
            constexpr Names kNames = {"tutti run", "RANK", "WORLD_SIZE", "LOCAL_RANK",
                                      "LOCAL_WORLD_SIZE"};
            return place_by(getter, kNames,
                            "tutti " + getter("TUTTI_JOB").value_or("") + " " +
                                value_or_none(getter, "MASTER_PORT"));
          }};
}

}  // namespace tutti::launchers
