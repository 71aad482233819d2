// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "kernels/processor.hpp"

#include "kernels/targets.hpp"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace tutti {

#if defined(__x86_64__)

// The compiler's checks ask the system, too, whether it keeps the registers. Processors with AVX2,
// FMA and BMI2 have F16C and LZCNT as well, which old compilers cannot ask for.
bool processor_runs(int64_t target) {
  switch (target) {
    case HWY_SSE4:
      return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes") &&
             __builtin_cpu_supports("pclmul");
    case HWY_AVX2:
      return processor_runs(HWY_SSE4) && __builtin_cpu_supports("avx2") &&
             __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
             __builtin_cpu_supports("bmi2");
    case HWY_AVX3:
      return processor_runs(HWY_AVX2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
    default: return false;
  }
}

#elif defined(__aarch64__)

bool processor_runs(int64_t target) {
  const auto has = [](unsigned long type, unsigned long bits) {
    return (getauxval(type) & bits) == bits;
  };
  switch (target) {
    case HWY_NEON: return has(AT_HWCAP, HWCAP_AES);
    case HWY_SVE: return has(AT_HWCAP, HWCAP_SVE);
    case HWY_SVE2: return has(AT_HWCAP2, HWCAP2_SVE2 | HWCAP2_SVEAES);
    default: return false;
  }
}

#else

bool processor_runs(int64_t) { return false; }

#endif

}  // namespace tutti
