// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// CCL_PROCESS_LAUNCHER=none with CCL_LOCAL_RANK and CCL_LOCAL_SIZE and nothing else: a job of one
// host.
#include "bootstrap/launchers/launchers.hpp"
#include "env/values.hpp"

namespace tutti::launchers {
namespace {

constexpr Names kNames = {"CCL_PROCESS_LAUNCHER=none", "CCL_LOCAL_RANK", "CCL_LOCAL_SIZE",
                          "CCL_LOCAL_RANK", "CCL_LOCAL_SIZE"};

bool present(const Getter& getter) {
  return lower_case(getter("CCL_PROCESS_LAUNCHER").value_or("")) == "none" &&
         any_set(getter, kNames);
}

}  // namespace

KnownLauncher ccl_local() {
  return {present, [](const Getter& getter) -> Result<JobPlace> {
            TUTTI_RETURN_IF_ERROR(check_master(getter).with_context(kNames.launcher));
            return place_by(getter, kNames, "ccl " + master(getter));
          }};
}

}  // namespace tutti::launchers
