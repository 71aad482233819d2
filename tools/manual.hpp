// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The manual of the variables, made from the tables in env/.
#pragma once

#include <string>
#include <string_view>

std::string variables_markdown();  // docs/variables.md
std::string variables_man_page();  // tutti-variables(7)

// Text for a page: in troff a backslash begins a request, as does a period or quote at the start of
// a line.
std::string troff(std::string_view text);
