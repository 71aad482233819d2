// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The manual of the variables, made from the tables in env/.
#pragma once

#include <string>

std::string variables_markdown();  // docs/variables.md
std::string variables_man_page();  // tutti-variables(7)
