// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "call.hpp"

namespace tutti_core {

using CommunicatorClass = nb::class_<Communicator>;

// Each adds the forms X and IX of what its file has.
void add_equal_collectives(CommunicatorClass& type);
void add_rooted_collectives(CommunicatorClass& type);
void add_uneven_collectives(CommunicatorClass& type);
void add_messages(CommunicatorClass& type);
// Adds the functions that tutti_ccl.lightgbm hands to LightGBM.
void add_lightgbm(nb::module_& module);

}  // namespace tutti_core
