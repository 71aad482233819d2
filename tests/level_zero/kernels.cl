// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the tests of the test driver execute.

__kernel void add(__global int* to, __global const int* a, __global const int* b, ulong count) {
  const size_t i = get_global_id(0);
  if (i < count) to[i] = a[i] + b[i];
}

__kernel void fill(__global int* to, int value, uint count, __local int* scratch) {
  const size_t i = get_global_id(0);
  scratch[get_local_id(0)] = value;
  if (i < count) to[i] = scratch[get_local_id(0)];
}
