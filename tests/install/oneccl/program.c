/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * A program of oneCCL's C API, of one rank. */
#include <oneapi/ccl.h>
#include <stdio.h>

int main(void) {
  onecclUniqueId id;
  onecclComm_t comm;
  float x = 21, sum = 0;
  if (onecclGetUniqueId(&id) || onecclCommInitRank(&comm, 1, id, 0) ||
      onecclAllReduce(&x, &sum, 1, onecclFloat, onecclSum, comm, NULL) || onecclCommDestroy(comm)) {
    puts(onecclGetLastError(NULL));
    return 1;
  }
  return sum != 21;
}
