// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Other names under which the command may be called: tutti-benchmark is `tutti benchmark`,
// all_reduce_perf is `tutti perf all_reduce`, and so is `tutti bench --nccl-tests all_reduce`.
#pragma once

#include <string>
#include <vector>

namespace tutti {

// The arguments, the program's name first, as the command reads them; the same if they are so.
std::vector<std::string> usual_words(std::vector<std::string> words);

}  // namespace tutti
