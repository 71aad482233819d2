// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The verdict on a job, as the commands print it: for people, and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "inspect/verdict.hpp"

namespace tutti::tools {

// The stack of the first rank to blame, if its Python can be asked; some lines.
std::string stack_of(const tutti::inspect::Job& job, const tutti::inspect::Verdict& verdict);
// The verdict, what to do, and what each rank does.
std::string to_text(const tutti::inspect::Job& job, const tutti::inspect::Verdict& verdict,
                    const std::string& stack);
// `status` is the exit status that the command gives for it alone.
nlohmann::ordered_json to_json(const tutti::inspect::Job& job,
                               const tutti::inspect::Verdict& verdict, const std::string& stack,
                               int status);

}  // namespace tutti::tools
