// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// In programs that are built with sanitizers: what drivers of devices need there, and what is not
// Tutti's of all that would be reported.
#include <dlfcn.h>

// The loaders of Level Zero and OpenCL open drivers so that these find their own functions first,
// which the sanitizers refuse: it would take theirs away. Without that the drivers work as well.
extern "C" void* __interceptor_dlopen(const char* file, int mode);
extern "C" void* dlopen(const char* file, int mode) noexcept {
  return __interceptor_dlopen(file, mode & ~RTLD_DEEPBIND);
}

#if defined(TUTTI_SANITIZED_THREAD)
// PoCL and LLVM are not compiled for ThreadSanitizer: it sees their calls of malloc() and memcpy(),
// but not by which atomics their threads tell one another that memory is free or written.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:libpocl.so\n"
         "race:libLLVM\n"
         "race:libclang-cpp\n"
         "race:pocl-cache\n"
         "mutex:libpocl.so\n"
         "deadlock:libpocl.so\n"
         "signal:libpocl.so\n"
         "thread:libpocl.so\n";
}
#else
// What PoCL, LLVM and the loaders make once per process stays until it ends.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libpocl.so\n"
         "leak:libLLVM\n"
         "leak:libclang-cpp\n"
         "leak:libOpenCL.so\n"
         "leak:libze_loader.so\n"
         "leak:libze_validation_layer.so\n"
         "leak:libhwloc.so\n";
}
#endif
