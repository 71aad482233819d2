// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What an engine is given of one thing. It counts as given from before the first command: an engine
// that fails between two of them may execute the first, and memory stays until that is over.
#pragma once

#include "devices/device.hpp"

namespace tutti {

class DeviceWork {
 public:
  // Before any command of it is given. Nothing else may be under way.
  void begin(devices::DeviceEngine& engine) {
    engine_ = &engine;
    given_ = true;
  }
  // Null: all is done.
  [[nodiscard]] devices::DeviceEngine* engine() const { return engine_; }
  // Hands the device what was given.
  Status submit();
  // Whether all is done, after at most so long in the driver. Submits it.
  Result<bool> done(uint32_t microseconds = 0);

  // Of what has failed: whether it is over, or is not yet; or, `late` or if nobody can tell, is
  // left to the device for ever, with the memory that it uses.
  enum class Rest { kOver, kNotYet, kLeft };
  Rest wind_up(bool late);
  // The same of work that uses `memory`, which is left with it. False: it is not over yet.
  template <typename Memory>
  bool wind_up(bool late, Memory& memory) {
    const Rest rest = wind_up(late);
    if (rest == Rest::kLeft) memory.leave();
    return rest != Rest::kNotYet;
  }

 private:
  devices::DeviceEngine* engine_ = nullptr;
  bool given_ = false;  // some of it is not submitted
  uint64_t submission_ = 0;
};

}  // namespace tutti
