/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * oneCCL's C API, version 2022.2, over Tutti. Programs written for it compile and link unchanged,
 * and programs that open libccl.so.2 at run time find the same symbols.
 *
 * CONVENTIONS, which hold for every function unless its comment says otherwise
 *
 * Errors. The code says of which kind an error is. onecclGetLastError gives a sentence that names
 *   what was given, what was expected and, if a peer is the cause, which. No call waits for ever:
 *   the limits are those of TUTTI_TIMEOUT_MS and TUTTI_INIT_TIMEOUT_MS.
 * Memory is host memory, and `stream` is NULL; another value is onecclInvalidArgument. Calls
 *   return when they are done, in a group when the outermost onecclGroupEnd returns.
 * Threads. One communicator is used from one thread at a time; onecclCommAbort and
 *   onecclCommGetAsyncError may be called from any thread at any time.
 * Counts are in elements.
 */
#ifndef ONECCL_C_API_H
#define ONECCL_C_API_H

#include <oneapi/ccl/v2/types.h>

#if defined(__GNUC__)
#define CCL_C_API __attribute__((visibility("default")))
#else
#define CCL_C_API
#endif
#define CCL_C_EXPORT CCL_C_API

#define ONECCL_MAJOR 2022
#define ONECCL_MINOR 2
#define ONECCL_PATCH 0
#define ONECCL_SUFFIX 0
#define ONECCL_VERSION_CODE (ONECCL_MAJOR * 10000 + ONECCL_MINOR * 100 + ONECCL_SUFFIX)
#define ONECCL_VERSION(X, Y, Z) ((X)*10000 + (Y)*100 + (Z))

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version and errors -------------------------------------------------------------------- */

/* ONECCL_VERSION_CODE of the library that is loaded. */
CCL_C_API onecclResult_t onecclGetVersion(int* version);
CCL_C_API onecclResult_t onecclExtractVersionComponents(int versionCode, int* major, int* minor,
                                                        int* patch);
/* The meaning of a code. Never NULL. */
CCL_C_API const char* onecclGetErrorString(onecclResult_t result);
/* The text of the last error in this thread, "" if there was none; valid until the thread's next
 * error. `comm` may be NULL. Never NULL. */
CCL_C_API const char* onecclGetLastError(onecclComm_t comm);
CCL_C_API const char* onecclGetLastErrorString(void);
/* Accepted, without effect: CCL_LOG_LEVEL is read when a communicator is made. */
CCL_C_API void onecclDebugInit(void);
CCL_C_API void onecclResetDebugInit(void);

/* ---- communicators ------------------------------------------------------------------------- */

/* Makes an id, good for one communicator, and starts the service at which its ranks meet in this
 * process. */
CCL_C_API onecclResult_t onecclGetUniqueId(onecclUniqueId* uniqueId);
/* Collective over the `nranks` processes (or threads) that hold the id. */
CCL_C_API onecclResult_t onecclCommInitRank(onecclComm_t* comm, size_t nranks,
                                            onecclUniqueId commId, int rank);
CCL_C_API onecclResult_t onecclCommInitRankConfig(onecclComm_t* comm, size_t nranks,
                                                  onecclUniqueId commId, int rank,
                                                  const onecclConfig_t* config);
/* Makes a communicator of `ndev` ranks that all live in this process: comm[0 .. ndev-1]. Calls on
 * them are to be made in one group, or from one thread each. `devlist` is ignored. */
CCL_C_API onecclResult_t onecclCommInitAll(onecclComm_t* comm, int ndev, const int* devlist);
/* Collective. Ranks of one color form a communicator, ordered by key, then rank;
 * ONECCL_SPLIT_NOCOLOR gives NULL. */
CCL_C_API onecclResult_t onecclCommSplit(onecclComm_t comm, int color, int key,
                                         onecclComm_t* newcomm, onecclConfig_t* config);
/* Says that no further calls come; what is left is onecclCommDestroy. */
CCL_C_API onecclResult_t onecclCommFinalize(onecclComm_t comm);
/* Frees the communicator, also after a failure, which it returns, and after onecclCommAbort. NULL
 * is accepted. */
CCL_C_API onecclResult_t onecclCommDestroy(onecclComm_t comm);
/* Ends every call in progress or to come, here and on the peers, with an error, and frees what the
 * communicator holds. The handle stays valid for onecclCommDestroy. */
CCL_C_API onecclResult_t onecclCommAbort(onecclComm_t comm);
/* The error that broke the communicator, or onecclSuccess. */
CCL_C_API onecclResult_t onecclCommGetAsyncError(onecclComm_t comm);
CCL_C_API onecclResult_t onecclCommCount(const onecclComm_t comm, int* size);
CCL_C_API onecclResult_t onecclCommUserRank(const onecclComm_t comm, int* rank);
/* The index that the thread which made the communicator had given to onecclSetDevice; 0 if none. */
CCL_C_API onecclResult_t onecclCommDevice(const onecclComm_t comm, int* device);
CCL_C_API onecclResult_t onecclSetDevice(uint32_t index);

/* ---- memory -------------------------------------------------------------------------------- */

/* Zeroed host memory, aligned to 2 MiB from that size on. */
CCL_C_API onecclResult_t onecclMemAlloc(void** ptr, size_t size);
CCL_C_API onecclResult_t onecclMemFree(void* ptr);
/* Registration is not needed for host memory: the handle only stands for the buffer. */
CCL_C_API onecclResult_t onecclCommRegister(onecclComm_t comm, void* buff, size_t size,
                                            void** handle);
CCL_C_API onecclResult_t onecclCommDeregister(onecclComm_t comm, void* handle);
CCL_C_API onecclResult_t onecclCommWindowRegister(onecclComm_t comm, void* buff, size_t size,
                                                  onecclWindow_t* window,
                                                  onecclWindowFlags_t flags);
CCL_C_API onecclResult_t onecclCommWindowDeregister(onecclComm_t comm, onecclWindow_t window);
/* The window's own memory at `offset` bytes. */
CCL_C_API onecclResult_t onecclGetLocalDevicePointer(onecclWindow_t window, size_t offset,
                                                     void** out_ptr);
/* The call above for this rank; other ranks' memory cannot be addressed: onecclNotImplemented. */
CCL_C_API onecclResult_t onecclGetPeerDevicePointer(onecclWindow_t window, size_t offset, int peer,
                                                    void** out_ptr);
CCL_C_API onecclResult_t onecclGetLsaDevicePointer(onecclWindow_t window, size_t offset,
                                                   int lsa_peer, void** out_ptr);
/* Kernels that communicate need a device: onecclNotImplemented. */
CCL_C_API onecclResult_t onecclDevCommCreate(onecclComm_t comm,
                                             const onecclDevCommRequirements_t* reqs,
                                             onecclDevComm_t* dev_comm);
CCL_C_API onecclResult_t onecclDevCommDestroy(onecclComm_t comm, const onecclDevComm_t* dev_comm);

/* ---- collectives --------------------------------------------------------------------------- */

/* In place: sendbuff == recvbuff. */
CCL_C_API onecclResult_t onecclAllReduce(void* sendbuff, void* recvbuff, size_t count,
                                         onecclDataType_t datatype, onecclRedOp_t reduction_op,
                                         onecclComm_t comm, void* stream);
/* recvbuff is used at the root only. */
CCL_C_API onecclResult_t onecclReduce(const void* sendbuff, void* recvbuff, size_t count,
                                      onecclDataType_t datatype, onecclRedOp_t redop, int root,
                                      onecclComm_t comm, void* stream);
/* sendbuff is used at the root only. */
CCL_C_API onecclResult_t onecclBroadcast(const void* sendbuff, void* recvbuff, size_t count,
                                         onecclDataType_t datatype, int root, onecclComm_t comm,
                                         void* stream);
/* In place: recvbuff == sendbuff + rank * recvcount. */
CCL_C_API onecclResult_t onecclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                                             onecclDataType_t datatype, onecclRedOp_t redop,
                                             onecclComm_t comm, void* stream);
/* sendbuff, of nranks * count elements, is used at the root only. */
CCL_C_API onecclResult_t onecclScatter(const void* sendbuff, void* recvbuff, size_t count,
                                       onecclDataType_t datatype, int root, onecclComm_t comm,
                                       void* stream);
/* In place: sendbuff == recvbuff + rank * sendcount. */
CCL_C_API onecclResult_t onecclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                                         onecclDataType_t datatype, onecclComm_t comm,
                                         void* stream);
/* `count` elements for each rank. */
CCL_C_API onecclResult_t onecclAllToAll(const void* sendbuff, void* recvbuff, size_t count,
                                        onecclDataType_t datatype, onecclComm_t comm, void* stream);
/* Blocks lie one after the other in both buffers. */
CCL_C_API onecclResult_t onecclAllToAllV(const void* sendbuff, const size_t* send_counts,
                                         void* recvbuff, const size_t* recv_counts,
                                         onecclDataType_t datatype, onecclComm_t comm,
                                         void* stream);

/* ---- messages and groups ------------------------------------------------------------------- */

/* Messages between two ranks arrive in the order sent. The counts of both sides must be equal. */
CCL_C_API onecclResult_t onecclSend(const void* sendbuff, size_t count, onecclDataType_t datatype,
                                    int peer, onecclComm_t comm, void* stream);
CCL_C_API onecclResult_t onecclRecv(void* recvbuff, size_t count, onecclDataType_t datatype,
                                    int peer, onecclComm_t comm, void* stream);
/* This thread's calls between both are begun together by the outermost end, which waits for them;
 * its error is that of the first that failed. */
CCL_C_API onecclResult_t onecclGroupStart(void);
CCL_C_API onecclResult_t onecclGroupEnd(void);

/* ---- reductions ---------------------------------------------------------------------------- */

/* Multiplies each rank's data by *scalar, one element of `datatype` in host memory, read now
 * whatever `residence` says, then sums. */
CCL_C_API onecclResult_t onecclRedOpCreatePreMulSum(onecclRedOp_t* redop, void* scalar,
                                                    onecclDataType_t datatype,
                                                    onecclScalarResidence_t residence,
                                                    onecclComm_t comm);
CCL_C_API onecclResult_t onecclRedOpDestroy(onecclRedOp_t redop, onecclComm_t comm);

#ifdef __cplusplus
}
#endif

#endif /* ONECCL_C_API_H */
