// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <oneapi/ccl/detail/functions.h>

extern "C" const tutti_oneccl_functions* onecclTuttiFunctions(void) {
#define TUTTI_ONECCL_ADDRESS(name) &::tutti_##name,
  static const tutti_oneccl_functions functions = {sizeof(tutti_oneccl_functions),
                                                   TUTTI_ONECCL_FUNCTIONS(TUTTI_ONECCL_ADDRESS)};
#undef TUTTI_ONECCL_ADDRESS
  return &functions;
}
