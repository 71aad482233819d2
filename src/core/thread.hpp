// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How every thread of the library begins: with all signals blocked, for these are for the threads
// of the program, and with a name.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "core/status.hpp"

namespace tutti {

// The names of all threads of the library begin with this.
inline constexpr std::string_view kOwnThreads = "tutti-";
// `name`, of at most 15 characters, is what the system shows; `what` says in an error what the
// thread would be for. `run` must not throw.
Result<std::thread> start_thread(const std::string& name, std::string_view what,
                                 std::function<void()> run);

}  // namespace tutti
