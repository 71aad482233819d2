// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/bench/device.hpp"

#include <new>
#include <stdexcept>

#include "core/wait.hpp"
#include "devices/device.hpp"

namespace tutti::bench {
namespace {

constexpr int64_t kLongestWaitMs = 60'000;

}  // namespace

std::string known_apis() {
  std::string names;
  for (const devices::DeviceApi* const api : devices::device_apis()) {
    names += (names.empty() ? "" : ", ") + std::string(api->name);
  }
  return names;
}

Result<const devices::DeviceApi*> find_api(std::string_view name) {
  const devices::DeviceApi* const known = devices::device_api(name);
  if (known != nullptr) return known;
  return Status::format(Code::kInvalidArgument, "--device is '{}', expected one of: {}", name,
                        known_apis());
}

Result<std::shared_ptr<devices::DeviceContext>> open_device(std::string_view api, int index) {
  TUTTI_ASSIGN_OR_RETURN(const auto known, find_api(api));
  TUTTI_RETURN_IF_ERROR(known->open());
  return known->make(index);
}

Status finish(devices::DeviceEngine& engine, const devices::DeviceContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const uint64_t submission, engine.submit());
  for (const int64_t deadline_ms = now_ms() + kLongestWaitMs; now_ms() < deadline_ms;) {
    TUTTI_ASSIGN_OR_RETURN(const bool done, engine.done(submission));
    if (done) return {};
    yield_core();
  }
  return Status::format(Code::kTimeout, "{}: what it was given does not end", context.name());
}

Result<std::unique_ptr<Device>> Device::open(std::string_view api, int index, tutti_comm_t comm) {
  TUTTI_ASSIGN_OR_RETURN(auto made, open_device(api, index));
  std::unique_ptr<Device> device(new Device);
  device->context_ = std::move(made);
  TUTTI_ASSIGN_OR_RETURN(device->engine_,
                         device->context_->make_engine(devices::EngineKind::kCopy));
  TUTTI_RETURN_IF_ERROR(device->make_view(comm));
  return device;
}

Status Device::make_view(tutti_comm_t comm) {
  const devices::NativeQueue& native = context_->native();
  tutti_queue queue = TUTTI_QUEUE_INIT;
  queue.api = static_cast<tutti_device_api>(devices::device_api_id(context_->api()));
  queue.context = native.context;
  queue.device = native.device;
  queue.queue = native.queue;
  queue.flags = native.immediate ? TUTTI_QUEUE_IMMEDIATE : 0;
  const tutti_status status = tutti_comm_view(comm, &queue, &view_);
  if (status == TUTTI_OK) return {};
  return {static_cast<Code>(status), tutti_last_error()};
}

Device::~Device() { tutti_comm_destroy(view_); }

std::string Device::name() const { return context_->name(); }

void* Device::allocate(size_t bytes) {
  void* memory = nullptr;
  if (tutti_alloc(view_, bytes, &memory) != TUTTI_OK) throw std::bad_alloc();
  return memory;
}

void Device::free(void* memory) { tutti_free(view_, memory); }

void Device::copy(void* dst, const void* source, size_t bytes) {
  if (bytes == 0) return;
  // The buffers there before may have been freed through the view, of which this context knows
  // nothing.
  Status status = context_->place_of(dst).status();
  if (status.ok()) status = context_->place_of(source).status();
  if (status.ok()) status = engine_->copy(dst, source, bytes);
  if (status.ok()) status = finish(*engine_, *context_);
  if (!status.ok()) throw std::runtime_error(std::string(status.message()));
}

}  // namespace tutti::bench
