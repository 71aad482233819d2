// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The verdict on a job in which nobody waits.
#pragma once

#include "inspect/verdict.hpp"

namespace tutti::inspect {

// A communicator that has failed, and whose ranks have made no calls in a whole one since; null:
// there is none.
const Communicator* broken_one(const Job& job);
Verdict of_idle(const Job& job);

}  // namespace tutti::inspect
