// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A kernel that needs more registers than there are, by which the check of all others is checked:
// 128 vectors are read before the barrier and needed after it.
#define EIGHT(do, i) do(i##0) do(i##1) do(i##2) do(i##3) do(i##4) do(i##5) do(i##6) do(i##7)
#define ALL(do)                                                                              \
  EIGHT(do, 1) EIGHT(do, 2) EIGHT(do, 3) EIGHT(do, 4) EIGHT(do, 5) EIGHT(do, 6) EIGHT(do, 7) \
  EIGHT(do, 8) EIGHT(do, 9) EIGHT(do, 10) EIGHT(do, 11) EIGHT(do, 12) EIGHT(do, 13)          \
  EIGHT(do, 14) EIGHT(do, 15) EIGHT(do, 16)
#define READ(i) const float4 v##i = from[i * n + get_global_id(0)];
#define WRITE(i) to[i * n + get_global_id(0)] = v##i;

__kernel void spills(__global float4* to, __global const float4* from, uint n) {
  ALL(READ)
  barrier(CLK_GLOBAL_MEM_FENCE);
  ALL(WRITE)
}
