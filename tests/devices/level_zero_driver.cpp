// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Tests of devices find the test driver for Level Zero, unless the environment names another one.
#include <cstdlib>

namespace {

[[maybe_unused]] const int chosen = setenv("ZE_ENABLE_ALT_DRIVERS", TUTTI_TEST_ZE_PATH, 0) +
                                    setenv("ZE_ENABLE_VALIDATION_LAYER", "1", 0) +
                                    setenv("ZE_ENABLE_PARAMETER_VALIDATION", "1", 0);

}  // namespace
