// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reduces symbolic data: runs of bytes that have one value.
#include <algorithm>

#include "sched/verify_parts.hpp"

namespace tutti {

// Walks through the runs of all sources at once: each stretch over which none of them changes gives
// one run of the result.
Status reduce_runs(std::span<std::vector<Run>> sources, uint32_t element_bytes, bool finishes,
                   Values& values, std::vector<Run>& result) {
  std::vector<size_t> cursor(sources.size(), 0);
  std::vector<ValueId> operands(sources.size());
  while (cursor[0] < sources[0].size()) {
    const uint64_t index = sources[0][cursor[0]].index;
    uint64_t bytes = UINT64_MAX;
    for (size_t i = 0; i < sources.size(); ++i) {
      const Run& run = sources[i][cursor[i]];
      bytes = std::min(bytes, run.bytes);
      operands[i] = run.value;
      if (run.index != index) {
        return Status::format(Code::kInternal,
                              "combines byte {} of the send buffers ({}) with byte {} ({})", index,
                              values.text(operands[0]), run.index, values.text(run.value));
      }
    }
    if (index % element_bytes != 0 || bytes % element_bytes != 0) {
      return {Code::kInternal, "combines parts of elements"};
    }
    TUTTI_ASSIGN_OR_RETURN(ValueId value, values.reduce(operands, finishes));
    result.push_back({bytes, index, value});
    for (size_t i = 0; i < sources.size(); ++i) {
      Run& run = sources[i][cursor[i]];
      run.index += bytes;
      run.bytes -= bytes;
      if (run.bytes == 0) ++cursor[i];
    }
  }
  return {};
}

}  // namespace tutti
