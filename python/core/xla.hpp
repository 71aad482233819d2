// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "communicator.hpp"

namespace tutti_core {

// xla_handlers(): the functions that XLA is to call, by the names that they are registered under.
// xla_number(communicator): its number in the attributes of such calls.
void add_xla(nb::module_& module);

}  // namespace tutti_core
