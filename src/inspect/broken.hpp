// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The finding on a communicator that has failed.
#pragma once

#include <string>

#include "inspect/verdict.hpp"

namespace tutti::inspect {

// Why a communicator has failed, as far as its ranks still show it.
Finding of_broken(const Job& job, const Communicator& broken, const std::string& text);

}  // namespace tutti::inspect
