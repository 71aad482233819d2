/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * The version of oneCCL whose C++ interface this is, and the attributes that its headers give to
 * functions, which programs use in declarations of their own.
 */
#ifndef TUTTI_ONECCL_CONFIG_H
#define TUTTI_ONECCL_CONFIG_H

#define CCL_MAJOR_VERSION 2022
#define CCL_MINOR_VERSION 2
#define CCL_UPDATE_VERSION 0
#define ONECCL_SPEC_VERSION "1.0"
#define CCL_PRODUCT_STATUS "Tutti"
#define CCL_PRODUCT_BUILD_DATE __DATE__ /* of the program: all of this is in its headers */
#define CCL_PRODUCT_FULL "oneCCL 2022.2.0 over Tutti"

#if defined(__GNUC__)
#define CCL_FORCEINLINE inline __attribute__((always_inline))
#define CCL_FORCENOINLINE __attribute__((noinline))
#define CCL_DEPRECATED __attribute__((deprecated))
#define CCL_HELPER_DLL_EXPORT __attribute__((visibility("default")))
#else
#define CCL_FORCEINLINE inline
#define CCL_FORCENOINLINE
#define CCL_DEPRECATED
#define CCL_HELPER_DLL_EXPORT
#endif
#define CCL_DEPRECATED_ENUM_FIELD CCL_DEPRECATED
#define CCL_API CCL_HELPER_DLL_EXPORT
#define CCL_BE_API CCL_HELPER_DLL_EXPORT

#endif /* TUTTI_ONECCL_CONFIG_H */
