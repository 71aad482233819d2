// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/opencl/context.hpp"

#include <cstdlib>

#include "devices/allocations.hpp"
#include "devices/opencl/engine.hpp"

namespace tutti::devices::opencl {
namespace {

constexpr size_t kAlignment = 4096;

MemoryKind kind_of(cl_unified_shared_memory_type_intel type) {
  switch (type) {
    case CL_MEM_TYPE_HOST_INTEL: return MemoryKind::kPinned;
    case CL_MEM_TYPE_DEVICE_INTEL: return MemoryKind::kDevice;
    case CL_MEM_TYPE_SHARED_INTEL: return MemoryKind::kShared;
    default: return MemoryKind::kHost;
  }
}

Status no_handles(std::string_view what) {
  return Status::format(Code::kUnsupported,
                        "{}: OpenCL has no handles of memory for other processes", what);
}

}  // namespace

Context::Context(const Library& cl, Device device, const NativeQueue& native, bool owns)
    : cl_(cl), device_(std::move(device)), native_(native), owns_(owns) {
  if (!owns_) cl_.clRetainContext(handle());
}

Context::~Context() {
  for (auto& [key, program] : programs_) {
    if (program.ok()) cl_.clReleaseProgram(*program);
  }
  if (owns_) cl_.clReleaseCommandQueue(static_cast<cl_command_queue>(native_.queue));
  cl_.clReleaseContext(handle());
}

// ---- memory ------------------------------------------------------------------------------------

Result<MemoryPlace> Context::usm_place(const void* pointer) const {
  const auto ask = [&](cl_mem_info_intel what, auto& value) {
    return device_.usm_functions.info(handle(), pointer, what, sizeof value, &value, nullptr);
  };
  cl_unified_shared_memory_type_intel type = CL_MEM_TYPE_UNKNOWN_INTEL;
  if (const cl_int error = ask(CL_MEM_ALLOC_TYPE_INTEL, type); error != CL_SUCCESS) {
    return failed(error, "clGetMemAllocInfoINTEL");
  }
  MemoryPlace place{.kind = kind_of(type)};
  if (place.on_host()) return place;
  cl_device_id device = nullptr;
  ask(CL_MEM_ALLOC_BASE_PTR_INTEL, place.base);
  ask(CL_MEM_ALLOC_SIZE_INTEL, place.bytes);
  ask(CL_MEM_ALLOC_DEVICE_INTEL, device);
  place.device = device;
  return place;
}

Result<MemoryPlace> Context::place_of(const void* pointer) {
  if (const auto own = OwnAllocations::of_process().find(pointer)) {
    MemoryPlace place = own->place;
    if (own->owner != native_.context) place.kind = MemoryKind::kForeign;
    return place;
  }
  if (device_.usm) {
    Result<MemoryPlace> place = usm_place(pointer);
    if (!place.ok() || !place->on_host()) return place;
  }
  if (!native_.all_is_device) return MemoryPlace{};
  return MemoryPlace{.kind = MemoryKind::kDevice, .device = device_.id};
}

Result<void*> Context::allocate(MemoryKind kind, size_t bytes) {
  void* memory = nullptr;
  cl_int error = CL_OUT_OF_HOST_MEMORY;
  std::string_view function = "clSVMAlloc";
  if (device_.usm) {
    const bool on_device = kind == MemoryKind::kDevice;
    function = on_device ? "clDeviceMemAllocINTEL" : "clHostMemAllocINTEL";
    const UsmFunctions& usm = device_.usm_functions;
    memory = on_device ? usm.device_alloc(handle(), device_.id, nullptr, bytes, 0, &error)
                       : usm.host_alloc(handle(), nullptr, bytes, 0, &error);
  } else if (kind == MemoryKind::kDevice) {
    memory = cl_.clSVMAlloc(handle(), CL_MEM_READ_WRITE, bytes, 0);
  } else {
    // The driver copies from any memory of the host.
    function = "aligned_alloc";
    memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  }
  if (memory == nullptr) {
    return failed(error, function)
        .with_context(
            fmt::format("{}: {} bytes of {} memory", name(), bytes, memory_kind_name(kind)));
  }
  OwnAllocations::of_process().add({.kind = kind,
                                    .base = memory,
                                    .bytes = bytes,
                                    .device = kind == MemoryKind::kDevice ? device_.id : nullptr},
                                   native_.context);
  return memory;
}

Status Context::free(void* memory) {
  const auto own = OwnAllocations::of_process().find(memory);
  if (!own || own->place.base != memory ||
      !OwnAllocations::of_process().remove(memory, native_.context)) {
    return Status::format(Code::kInvalidArgument, "{}: {} is no memory that it has allocated",
                          name(), memory);
  }
  if (device_.usm) {
    const cl_int error = device_.usm_functions.free(handle(), memory);
    return error == CL_SUCCESS ? Status() : failed(error, "clMemFreeINTEL");
  }
  if (own->place.kind == MemoryKind::kDevice) {
    cl_.clSVMFree(handle(), memory);
  } else {
    std::free(memory);
  }
  return {};
}

Result<MemoryHandle> Context::export_memory(void*) { return no_handles("export_memory"); }
Result<void*> Context::open_memory(const MemoryHandle&) { return no_handles("open_memory"); }
Status Context::close_memory(void*) { return no_handles("close_memory"); }

// ---- work --------------------------------------------------------------------------------------

Result<cl_program> Context::program(DataType type, DeviceVariant variant) {
  const std::lock_guard lock(mutex_);
  const auto key = std::pair(type, variant);
  auto found = programs_.find(key);
  if (found == programs_.end()) {
    found = programs_.emplace(key, build_program(*this, type, variant)).first;
  }
  return found->second;
}

Result<std::unique_ptr<DeviceEngine>> Context::make_engine(EngineKind) {
  cl_int error = CL_SUCCESS;
  cl_command_queue const queue = cl_.clCreateCommandQueue(handle(), device_.id, 0, &error);
  if (error != CL_SUCCESS) return failed(error, "clCreateCommandQueue").with_context(name());
  return std::unique_ptr<DeviceEngine>(new Engine(shared_from_this(), queue));
}

Result<std::shared_ptr<DeviceEvent>> Context::add_marker() {
  auto* const queue = static_cast<cl_command_queue>(native_.queue);
  if (queue == nullptr) {
    return Status::format(Code::kInvalidUsage, "{}: there is no queue to be ordered after", name());
  }
  cl_event event = nullptr;
  cl_int error = cl_.clEnqueueMarkerWithWaitList(queue, 0, nullptr, &event);
  if (error != CL_SUCCESS) return failed(error, "clEnqueueMarkerWithWaitList").with_context(name());
  auto marker = std::make_shared<Event>(cl_, event);
  // Nobody else need make it begin.
  error = cl_.clFlush(queue);
  if (error != CL_SUCCESS) return failed(error, "clFlush").with_context(name());
  return std::shared_ptr<DeviceEvent>(std::move(marker));
}

Result<std::shared_ptr<SignalledEvent>> Context::make_event() {
  cl_int error = CL_SUCCESS;
  cl_event const event = cl_.clCreateUserEvent(handle(), &error);
  if (error != CL_SUCCESS) return failed(error, "clCreateUserEvent").with_context(name());
  return std::shared_ptr<SignalledEvent>(std::make_shared<Event>(cl_, event));
}

Result<bool> ended(const Library& cl, cl_event event) {
  cl_int status = CL_QUEUED;
  const cl_int error =
      cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  if (error != CL_SUCCESS) return failed(error, "clGetEventInfo");
  if (status < 0) return failed(status, "a command on the device");
  return status == CL_COMPLETE;
}

Result<bool> Event::done_within(Patience /*patience*/) { return ended(cl_, event_); }

Status Event::signal(const Status& outcome) {
  const cl_int error = cl_.clSetUserEventStatus(event_, outcome.ok() ? CL_COMPLETE : -1);
  return error == CL_SUCCESS ? Status() : failed(error, "clSetUserEventStatus");
}

}  // namespace tutti::devices::opencl
