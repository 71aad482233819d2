// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the series of PyTorch call differently.
#pragma once

#include <torch/version.h>

#include <torch/csrc/distributed/c10d/Types.hpp>

namespace tutti_torch {

#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 13
using PremultipliedSum = c10d::NCCLPreMulSumSupplement;
#else
using PremultipliedSum = c10d::PreMulSumSupplement;
#endif

}  // namespace tutti_torch
