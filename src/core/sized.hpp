// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Structs of tutti.h begin with their size, by which a program and a library of different versions
// understand one another. An older program's struct lacks the last fields, which then have their
// defaults. A later program's has more; these it may not use, so they must be 0.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/status.hpp"

namespace tutti {

struct SizedStruct {
  std::string_view name;
  std::string_view advice;  // advice how to make one
  size_t least;             // size in the first version
  size_t known;             // size in this version
};
// An error with both sizes if `given` is none that this library can take. Else the first
// min(size, known) bytes are the program's.
Status check_struct(const SizedStruct& expected, const void* given);

}  // namespace tutti
