// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Names that differ between the series of PyTorch.
#pragma once

#include <torch/version.h>

#include <torch/csrc/distributed/c10d/Types.hpp>

// True from that minor version of PyTorch 2 on.
#define TUTTI_TORCH_SINCE(minor) \
  (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= (minor)))

namespace tutti_torch {

#if TUTTI_TORCH_SINCE(13)
using PremultipliedSum = c10d::PreMulSumSupplement;
#else
using PremultipliedSum = c10d::NCCLPreMulSumSupplement;
#endif

}  // namespace tutti_torch
