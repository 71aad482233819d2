// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which of Highway's targets this processor runs. Highway's own answer needs its shared library,
// which measures the processor's clock when it is loaded: milliseconds of every process.
#pragma once

#include <cstdint>

namespace tutti {

// One of the targets of targets.hpp, as in HWY_AVX2.
bool processor_runs(int64_t target);

}  // namespace tutti
