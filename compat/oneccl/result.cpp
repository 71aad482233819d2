// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "result.hpp"

namespace {

thread_local std::string last_error;

onecclResult_t code_of(tutti_status status) {
  switch (status) {
    case TUTTI_OK: return onecclSuccess;
    case TUTTI_ERR_INVALID_ARGUMENT:
    case TUTTI_ERR_TRUNCATED: return onecclInvalidArgument;
    case TUTTI_ERR_INVALID_USAGE:
    case TUTTI_ERR_MISMATCH: return onecclInvalidUsage;
    case TUTTI_ERR_UNSUPPORTED: return onecclNotImplemented;
    case TUTTI_ERR_OUT_OF_MEMORY: return onecclAllocFailureCPU;
    case TUTTI_ERR_SYSTEM: return onecclSystemError;
    case TUTTI_ERR_PEER_FAILED: return onecclFailureCPU;
    case TUTTI_ERR_INTERNAL: return onecclInternalError;
    default: return onecclError;
  }
}

}  // namespace

namespace tutti_oneccl {

onecclResult_t fail(onecclResult_t code, const std::string& text) noexcept {
  try {
    last_error = text.empty() ? onecclGetErrorString(code) : text;
  } catch (const std::bad_alloc&) {
    last_error.clear();
  }
  return code;
}

onecclResult_t result_of(tutti_status status) noexcept {
  if (status == TUTTI_OK) return onecclSuccess;
  try {
    return fail(code_of(status),
                std::string(tutti_status_name(status)) + ": " + tutti_last_error());
  } catch (const std::bad_alloc&) {
    return fail(code_of(status), "");
  }
}

}  // namespace tutti_oneccl

using namespace tutti_oneccl;

extern "C" {

const char* onecclGetErrorString(onecclResult_t result) {
  switch (result) {
    case onecclSuccess: return "success";
    case onecclError: return "the call ended by a timeout or an abort";
    case onecclSystemError: return "the operating system refused a request";
    case onecclInternalError: return "internal error of the library";
    case onecclInvalidArgument: return "invalid argument";
    case onecclInvalidUsage: return "invalid usage, or ranks made different calls";
    case onecclInProgress: return "the operation is in progress";
    case onecclFailureGPU: return "a GPU failed";
    case onecclFailureCPU: return "a peer process died or left";
    case onecclAllocFailureCPU: return "host memory is exhausted";
    case onecclAllocFailureGPU: return "device memory is exhausted";
    case onecclPluginException: return "exception in a plug-in";
    case onecclNotImplemented: return "not implemented for host memory";
  }
  return "not a code of onecclResult_t";
}

const char* onecclGetLastErrorString(void) { return last_error.c_str(); }

const char* onecclGetLastError(onecclComm_t) { return last_error.c_str(); }

void onecclDebugInit(void) {}

void onecclResetDebugInit(void) {}

// In no header: what a program that declares it by itself hands over is not looked at.
void onecclDebugLog(void) {}

onecclResult_t onecclGetVersion(int* version) {
  if (version == nullptr) return null_argument("onecclGetVersion", "version");
  *version = ONECCL_VERSION_CODE;
  return onecclSuccess;
}

onecclResult_t onecclExtractVersionComponents(int versionCode, int* major, int* minor, int* patch) {
  constexpr const char* kFunction = "onecclExtractVersionComponents";
  if (major == nullptr) return null_argument(kFunction, "major");
  if (minor == nullptr) return null_argument(kFunction, "minor");
  if (patch == nullptr) return null_argument(kFunction, "patch");
  *major = versionCode / 10000;
  *minor = versionCode / 100 % 100;
  *patch = versionCode % 100;
  return onecclSuccess;
}

}  // extern "C"
