// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A module that needs 64-bit floats.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void twice(__global double* to, __global const double* from) {
  const size_t i = get_global_id(0);
  to[i] = from[i] * 2.0;
}
