// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

namespace tutti {

// Sets `function` to what a library that was opened at run time calls `name`, or to null; whether
// it has such a function.
template <typename Function>
bool find_symbol(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace tutti
