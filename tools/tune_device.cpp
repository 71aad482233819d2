// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/tune_device.hpp"

#include <fmt/format.h>

#include "devices/device.hpp"
#include "tools/bench/device.hpp"
#include "tools/bench/device_figures.hpp"

namespace tutti::tune {

tutti::Status tune_device(const std::string& api, int index, const Output& output,
                          const tutti::Machine& usual) {
  TUTTI_ASSIGN_OR_RETURN(const auto context, tutti::bench::open_device(api, index));
  const auto figures = tutti::bench::measure_device(*context);
  if (!figures.ok()) return figures.status();
  const tutti::devices::DeviceFacts& facts = context->facts();
  const tutti::DeviceFigures assumed;
  fmt::print("{}\ndriver {}\n\n{:<16} {:>10} {:>10}\n", context->name(), facts.driver, "figure",
             "assumed", "measured");
  for (const tutti::DeviceFigure& figure : tutti::device_figures()) {
    fmt::print("{:<16} {:>10.3g} {:>10.3g}\n", figure.name, assumed.*figure.value,
               *figures.*figure.value);
  }
  fmt::print("\n");
  const tutti::TunedDevice tuned{api, facts.name, facts.driver, facts.ipc, *figures};
  return change_file(output, usual, [&](tutti::Tuning& tuning) {
    std::erase_if(tuning.devices, [&](const tutti::TunedDevice& old) {
      return old.api == tuned.api && old.name == tuned.name;
    });
    tuning.devices.push_back(tuned);
  });
}

}  // namespace tutti::tune
