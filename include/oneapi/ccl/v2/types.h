/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * The types of oneCCL's C API, version 2022.2: same names, values and layouts. Include
 * <oneapi/ccl.h>, which declares the functions.
 */
#ifndef ONECCL_C_TYPES_H
#define ONECCL_C_TYPES_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* C++ gives enumerations a fixed type, so that a program may hand over any number. */
#ifdef __cplusplus
extern "C" {
#define TUTTI_ONECCL_AS_INT : int
#else
#define TUTTI_ONECCL_AS_INT
#endif

typedef struct onecclComm* onecclComm_t;
typedef void* onecclWindow_t;

typedef enum TUTTI_ONECCL_AS_INT {
  onecclSuccess = 0,
  onecclError = 1,       /* a timeout, or an abort by a rank */
  onecclSystemError = 2, /* the operating system refused something */
  onecclInternalError = 3,
  onecclInvalidArgument = 4,
  onecclInvalidUsage = 5, /* not allowed in this state, or ranks made different calls */
  onecclInProgress = 6,
  onecclFailureGPU = 7,
  onecclFailureCPU = 8, /* a peer process died or left */
  onecclAllocFailureCPU = 9,
  onecclAllocFailureGPU = 10,
  onecclPluginException = 11,
  onecclNotImplemented = 12
} onecclResult_t;

typedef enum TUTTI_ONECCL_AS_INT {
  onecclInt8 = 0,
  onecclChar = 0,
  onecclUint8 = 1,
  onecclInt32 = 2,
  onecclInt = 2,
  onecclUint32 = 3,
  onecclInt64 = 4,
  onecclUint64 = 5,
  onecclFloat16 = 6,
  onecclHalf = 6,
  onecclFloat32 = 7,
  onecclFloat = 7,
  onecclFloat64 = 8,
  onecclDouble = 8,
  onecclBfloat16 = 9
} onecclDataType_t;

/* Further values are made by onecclRedOpCreatePreMulSum. */
typedef enum TUTTI_ONECCL_AS_INT {
  onecclSum = 0,
  onecclProd = 1,
  onecclMax = 2,
  onecclMin = 3,
  onecclAvg = 4,
  onecclNumOps = 5,
  onecclMaxRedOp = 0x7fffffff
} onecclRedOp_t;

typedef enum TUTTI_ONECCL_AS_INT {
  onecclScalarDevice = 0,
  onecclScalarHostImmediate = 1
} onecclScalarResidence_t;

/* In C, an enumerator must fit an int, and these do not. */
#ifdef __cplusplus
typedef enum : unsigned {
  onecclPluginAny = 0,
  onecclNull = 0xDEADBEEF,
  onecclLegacy = 0xBAAAAAAD,
  onecclLegacyCPU = 0xBAAAAAAE,
  onecclUserBackend = 0xF8F8F8F8
} onecclPluginType_t;
#else
typedef unsigned int onecclPluginType_t;
#define onecclPluginAny 0u
#define onecclNull 0xDEADBEEFu
#define onecclLegacy 0xBAAAAAADu
#define onecclLegacyCPU 0xBAAAAAAEu
#define onecclUserBackend 0xF8F8F8F8u
#endif

/* Opaque: hand its bytes, which contain a secret, from the rank that made it to the others. */
#define ONECCL_UNIQUE_ID_BYTES 4096
typedef struct {
  char data[ONECCL_UNIQUE_ID_BYTES];
} onecclUniqueId;

#define ONECCL_CONFIG_UNDEF_INT INT_MIN
#define ONECCL_CONFIG_UNDEF_PTR NULL
#define ONECCL_SPLIT_NOCOLOR (-1)
#define ONECCL_UNDEF_FLOAT (-1.0f)
#define ONECCL_COMM_NULL NULL

/* Start from ONECCL_CONFIG_INITIALIZER. No field has an effect on host memory, where communicators
 * are always made in the call that asks for them. So none is read, and one that was never
 * initialised does no harm. */
typedef struct onecclConfig {
  size_t size;        /* sizeof(onecclConfig_t) */
  unsigned int magic; /* 0xcafebeef */
  unsigned int version;
  int blocking;
  int cgaClusterSize;
  int minCTAs;
  int maxCTAs;
  const char* netName;
  int splitShare;
  int multiThreaded;
  onecclPluginType_t plugin;
} onecclConfig_t;
#define ONECCL_CONFIG_INITIALIZER                                                     \
  {                                                                                   \
    sizeof(onecclConfig_t), 0xcafebeef, ONECCL_VERSION_CODE, ONECCL_CONFIG_UNDEF_INT, \
        ONECCL_CONFIG_UNDEF_INT, ONECCL_CONFIG_UNDEF_INT, ONECCL_CONFIG_UNDEF_INT,    \
        ONECCL_CONFIG_UNDEF_PTR, ONECCL_CONFIG_UNDEF_INT, ONECCL_CONFIG_UNDEF_INT,    \
        onecclPluginAny,                                                              \
  }

typedef enum TUTTI_ONECCL_AS_INT {
  ONECCL_WINDOW_DEFAULT = 0,
  ONECCL_WINDOW_COLL_SYMMETRIC = 1
} onecclWindowFlags_t;

/* Settings of kernels that communicate by themselves, which host memory has not. */
#define ONECCL_DEV_COMM_WORDS 8
typedef struct {
  void* opaque[ONECCL_DEV_COMM_WORDS];
} onecclDevComm_t;
typedef struct {
  int lsa_barrier_count;
} onecclDevCommRequirements_t;

#ifdef __cplusplus
}
#endif

#undef TUTTI_ONECCL_AS_INT

#endif /* ONECCL_C_TYPES_H */
