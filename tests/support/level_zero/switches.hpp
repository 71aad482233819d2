// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How the test driver behaves: see switches.inc.
#pragma once

namespace tutti_test::ze {

struct Switches {
#define TUTTI_ZE_SWITCH(name, otherwise, help) long name = otherwise;
#include "support/level_zero/switches.inc"
#undef TUTTI_ZE_SWITCH
};

const Switches& switches();

}  // namespace tutti_test::ze
