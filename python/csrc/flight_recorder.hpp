// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Records the last operations of this process like PyTorch's flight recorder. So torchfrtrace can
// say of a job that hangs which call is unfinished and which rank is missing.
//
// Off, unless TORCH_FR_BUFFER_SIZE (or TORCH_NCCL_TRACE_BUFFER_SIZE) is over 0: the number of
// operations that are kept. They are written when the first communicator of the process breaks, to
// the file that TORCH_FR_DUMP_TEMP_FILE names, with the rank behind it. A thread looks for that:
// ranks that never make the call tell of themselves, too.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tutti_torch {

struct Call;

class FlightRecorder {
 public:
  using Entry = std::optional<size_t>;
  static bool on() { return kOn; }
  static Entry record(const Call& call, const std::vector<at::Tensor>& inputs,
                      const std::vector<at::Tensor>& outputs);
  static void complete(Entry entry) {
    if (entry) retire(*entry);
  }
  // Records whose message a receive from any rank has got; until then it counts as from rank -1.
  static void came_from(Entry entry, int source);
  // Writes what is recorded, and returns where to. Throws if it is off.
  static std::string dump();
  // Writes it, unless that was done after an earlier failure. Throws nothing.
  static void failed();
  // Ends the thread that looks for failures.
  static void stop();

 private:
  static void retire(size_t entry);
  static const bool kOn;
};

}  // namespace tutti_torch
