// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory and what is registered of it. Host memory needs no registration: handles and windows
// remember a buffer, so that giving back what was not registered is found.
#include <cstdlib>
#include <cstring>

#include "communicator.hpp"

namespace tutti_oneccl {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kCacheLine = 64;

onecclResult_t add(const char* function, onecclComm_t comm, void* buffer, size_t bytes,
                   void** handle) {
  const Use use(comm, function);
  if (!use) return use.result();
  if (handle == nullptr) return null_argument(function, "the handle");
  if (buffer == nullptr && bytes > 0) return null_argument(function, "buff");
  int rank = 0;
  tutti_comm_rank(use.handle(), &rank);
  auto made =
      std::make_unique<Registered>(Registered{static_cast<std::byte*>(buffer), bytes, rank});
  const std::lock_guard lock(comm->mutex);
  *handle = made.get();
  comm->registered[*handle] = std::move(made);
  return onecclSuccess;
}

onecclResult_t remove(const char* function, onecclComm_t comm, void* handle) {
  if (comm == nullptr) return null_argument(function, "comm");
  const std::lock_guard lock(comm->mutex);
  if (comm->registered.erase(handle) == 0) {
    return fail(onecclInvalidArgument,
                std::string(function) + ": the handle is not registered with comm");
  }
  return onecclSuccess;
}

onecclResult_t address_in(const char* function, onecclWindow_t window, size_t offset, void** out) {
  if (window == nullptr) return null_argument(function, "window");
  if (out == nullptr) return null_argument(function, "out_ptr");
  const auto& registered = *static_cast<Registered*>(window);
  if (offset > registered.bytes) {
    return fail(onecclInvalidArgument, std::string(function) + ": offset is " +
                                           std::to_string(offset) + " in a window of " +
                                           std::to_string(registered.bytes) + " bytes");
  }
  *out = registered.begin + offset;
  return onecclSuccess;
}

onecclResult_t address_at(const char* function, onecclWindow_t window, size_t offset, int peer,
                          void** out) {
  if (window == nullptr) return null_argument(function, "window");
  if (peer == static_cast<Registered*>(window)->rank)
    return address_in(function, window, offset, out);
  return fail(onecclNotImplemented, std::string(function) + ": rank " + std::to_string(peer) +
                                        "'s memory is not in this process");
}

onecclResult_t no_devices(const char* function) {
  return fail(onecclNotImplemented, std::string(function) + ": there is no device");
}

}  // namespace
}  // namespace tutti_oneccl

using namespace tutti_oneccl;

extern "C" {

onecclResult_t onecclMemAlloc(void** ptr, size_t size) {
  if (ptr == nullptr) return null_argument("onecclMemAlloc", "ptr");
  const size_t alignment = size >= kHugePage ? kHugePage : kCacheLine;
  const int error = posix_memalign(ptr, alignment, size);
  if (error != 0) {
    return fail(onecclAllocFailureCPU,
                "onecclMemAlloc: no memory for " + std::to_string(size) + " bytes");
  }
  std::memset(*ptr, 0, size);
  return onecclSuccess;
}

onecclResult_t onecclMemFree(void* ptr) {
  std::free(ptr);
  return onecclSuccess;
}

onecclResult_t onecclCommRegister(onecclComm_t comm, void* buff, size_t size, void** handle) {
  constexpr const char* kFunction = "onecclCommRegister";
  return guard(kFunction, [&] { return add(kFunction, comm, buff, size, handle); });
}

onecclResult_t onecclCommDeregister(onecclComm_t comm, void* handle) {
  return remove("onecclCommDeregister", comm, handle);
}

onecclResult_t onecclCommWindowRegister(onecclComm_t comm, void* buff, size_t size,
                                        onecclWindow_t* window, onecclWindowFlags_t flags) {
  constexpr const char* kFunction = "onecclCommWindowRegister";
  if (flags != ONECCL_WINDOW_DEFAULT && flags != ONECCL_WINDOW_COLL_SYMMETRIC) {
    return fail(onecclInvalidArgument,
                std::string(kFunction) + ": flags are " + std::to_string(static_cast<int>(flags)) +
                    ", expected ONECCL_WINDOW_DEFAULT or ONECCL_WINDOW_COLL_SYMMETRIC");
  }
  return guard(kFunction, [&] { return add(kFunction, comm, buff, size, window); });
}

onecclResult_t onecclCommWindowDeregister(onecclComm_t comm, onecclWindow_t window) {
  return remove("onecclCommWindowDeregister", comm, window);
}

onecclResult_t onecclGetLocalDevicePointer(onecclWindow_t window, size_t offset, void** out_ptr) {
  return address_in("onecclGetLocalDevicePointer", window, offset, out_ptr);
}

onecclResult_t onecclGetPeerDevicePointer(onecclWindow_t window, size_t offset, int peer,
                                          void** out_ptr) {
  return address_at("onecclGetPeerDevicePointer", window, offset, peer, out_ptr);
}

onecclResult_t onecclGetLsaDevicePointer(onecclWindow_t window, size_t offset, int lsa_peer,
                                         void** out_ptr) {
  return address_at("onecclGetLsaDevicePointer", window, offset, lsa_peer, out_ptr);
}

onecclResult_t onecclDevCommCreate(onecclComm_t, const onecclDevCommRequirements_t*,
                                   onecclDevComm_t*) {
  return no_devices("onecclDevCommCreate");
}

onecclResult_t onecclDevCommDestroy(onecclComm_t, const onecclDevComm_t*) {
  return no_devices("onecclDevCommDestroy");
}

}  // extern "C"
