// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti_ccl._core: tutti.h for Python, without PyTorch. tutti_ccl.communicator completes its class.
#include "collectives.hpp"
#include "request.hpp"

NB_MODULE(_core, module) {
  nanobind::set_leak_warnings(false);  // communicators that live until the interpreter ends
  tutti_core::in_place();
  auto type = tutti_core::add_communicator(module);
  tutti_core::add_equal_collectives(type);
  tutti_core::add_rooted_collectives(type);
  tutti_core::add_uneven_collectives(type);
  tutti_core::add_messages(type);
  tutti_core::add_requests(module);
  tutti_core::add_groups(module);
}
