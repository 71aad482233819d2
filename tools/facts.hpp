// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The facts of `tutti info`, as JSON: the library, the machine as this process sees it, and the
// environment.
#pragma once

#include <nlohmann/json.hpp>

nlohmann::ordered_json collect_cores();       // object: usable, online, quota (null: none)
nlohmann::ordered_json collect_topology();    // object; has "error" if hwloc failed
nlohmann::ordered_json collect_kernels();     // object: isa, isas
nlohmann::ordered_json collect_devices();     // array, by API
nlohmann::ordered_json collect_transports();  // array, best first
nlohmann::ordered_json collect_algorithms();  // array, in the order of the registry
// object: file and choices (null: none), machine by name; has "error" if the file cannot be used
nlohmann::ordered_json collect_tuning();
nlohmann::ordered_json collect_variables();  // array, in the order of the table
nlohmann::ordered_json collect_notices();    // array of severity and text
// object: what a measurement depends on besides its own options: date, kernel, load, cores,
// topology, kernels, whether it is tuned, variables that are set
nlohmann::ordered_json collect_machine();
