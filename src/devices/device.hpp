// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The seam between Tutti and the APIs of devices. Each API has a folder here, which defines
//   extern const DeviceApi <name>_device_api;
// and a line in devices/registry.inc. Nothing outside of that folder knows the API.
//
// Nothing here blocks, but for the compilation of kernels at their first use, and what says so. The
// work of a device is polled for. Functions may be called from any thread, one thread at a time for
// each object, unless they say otherwise.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fd.hpp"
#include "core/status.hpp"
#include "core/types.hpp"
#include "kernels/device/modules.hpp"

namespace tutti::devices {

// ---- what there is -----------------------------------------------------------------------------

// An identifier of one device, or part of one, equal in every process; all zero if the API has
// none.
using DeviceUuid = std::array<uint8_t, 16>;

// Facts of one device, or of one part (tile) of a card; found out once.
struct DeviceFacts {
  int index = 0;       // among all of its API, cards first to last, each followed by its parts
  int parent = -1;     // the index of the card that this is a part of
  std::string name;    // "Intel(R) Data Center GPU Max 1550"
  std::string driver;  // name and version, as they tell binaries of one from those of another
  uint64_t memory_bytes = 0;
  uint32_t vendor_id = 0;
  bool fp64 = false;
  bool ipc = false;  // memory can be opened by other processes
  DeviceUuid uuid{};
  bool tells_place = false;  // the driver knows what a pointer is (place_of)
  std::string kernels;       // "SPIR-V" or "source": in which form it takes ours; empty: in none
};

// The handles that an application hands over, all of one API. `queue` is null where none is needed.
struct NativeQueue {
  void* context = nullptr;
  void* device = nullptr;
  void* queue = nullptr;
  bool immediate = false;      // queue is an immediate command list (Level Zero)
  bool all_is_device = false;  // every pointer given is memory of the device: where
                               // !tells_place, for memory that Tutti did not allocate
};

class DeviceContext;

// One API: a table of functions.
struct DeviceApi {
  std::string_view name;  // in registry.inc

  // Opens the library and its drivers, once per process; the error, one line, stays the same. Any
  // thread. The other functions need it.
  Status (*open)();
  // The devices, at least one, once open() has succeeded. Any thread.
  std::span<const DeviceFacts> (*devices)();
  // Over the handles of an application, which outlive it.
  Result<std::shared_ptr<DeviceContext>> (*adopt)(const NativeQueue& native);
  // A context and an ordered queue of our own, on the device of that index. DeviceContext::native()
  // has the handles.
  Result<std::shared_ptr<DeviceContext>> (*make)(int index);
};

// All APIs, in the order of registry.inc.
std::span<const DeviceApi* const> device_apis();
// The API by its id or its name in registry.inc; null for none.
const DeviceApi* device_api(int id);
const DeviceApi* device_api(std::string_view name);
int device_api_id(const DeviceApi& api);

// ---- memory ------------------------------------------------------------------------------------

enum class MemoryKind : uint8_t {
  kHost,     // nothing that the device knows
  kPinned,   // host memory that the device reads and writes
  kShared,   // memory that moves between both
  kDevice,   // the host may not touch it
  kForeign,  // memory of a device, but not of this context
  kBeyond,   // memory of this context, on a device whose memory this one does not reach
};
std::string_view memory_kind_name(MemoryKind kind);

// The memory to which a pointer leads.
struct MemoryPlace {
  MemoryKind kind = MemoryKind::kHost;
  // The allocation that it lies in, unless kHost:
  void* base = nullptr;
  size_t bytes = 0;
  uint64_t allocation = 0;  // never the same for two that lived in the process; 0: not known
  void* device = nullptr;   // native handle; null: of no one device

  [[nodiscard]] bool on_host() const { return kind == MemoryKind::kHost; }
};

// The handle by which another process opens an allocation. All of it goes there.
struct MemoryHandle {
  std::array<std::byte, 64> bytes{};
  Fd fd;                // if the driver's handle is one; it goes by SCM_RIGHTS
  uint64_t length = 0;  // of the allocation
};

// ---- work --------------------------------------------------------------------------------------

// The time for which a driver may block for what has not come to pass, where it can wait.
struct Patience {
  uint32_t microseconds = 0;
};

// Something that comes to pass once: what was put into a queue before is done; or Tutti says so.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  // Whether it has. An error if the device is lost. Any thread.
  virtual Result<bool> done_within(Patience patience) = 0;
  Result<bool> done() { return done_within({}); }
  // The native event for the application to wait for; valid while this lives.
  [[nodiscard]] virtual void* native() const = 0;
};
// An event that Tutti signals, once. Its waiters then go on; after an error, as far as the API can
// tell that.
class SignalledEvent : public DeviceEvent {
 public:
  virtual Status signal(const Status& outcome) = 0;
};

// dst[i] = sources[0][i] op sources[1][i] op ..., in that order: the bits of reduce_kernel().
struct Reduction {
  ReduceOp op = ReduceOp::kSum;  // not kUser; kPremulSum sums what scale() has multiplied
  DataType type = DataType::kFloat32;
  void* dst = nullptr;                   // may be one of the sources
  std::span<const void* const> sources;  // any number from 1 on
  uint64_t count = 0;
  uint32_t divisor = 0;  // of kAvg, which divides its sum by it; 0: it only sums
  // Memory of the device for more sources than a kernel takes, which no other work uses meanwhile.
  std::span<std::byte> between = {};
};
// The memory between kernels that is of use for so many elements; 0 if one takes all sources.
size_t bytes_between_passes(ReduceOp op, DataType type, size_t sources, uint64_t count);

// A kernel of a module (kernels/device/modules.hpp), and one launch of it. Its arguments are
// pointers and then values. It writes through the first pointer alone.
struct DeviceKernel {
  DataType type{};
  DeviceVariant variant{};
  std::string_view name;
  auto operator<=>(const DeviceKernel&) const = default;
};
struct DeviceLaunch {
  struct Memory {
    const void* pointer = nullptr;  // null: not read
    uint64_t bytes = 0;
  };
  struct Value {
    uint64_t bits = 0;
    size_t bytes = 0;
  };
  DeviceKernel kernel;
  uint64_t work_items = 0;
  std::span<const Memory> memory;
  std::span<const Value> values;
};

// An ordered stream of work on a device, over a queue of our own. A pointer leads to memory of its
// context, of another process (open_memory), or of the host. A reduction's leads to memory that the
// device reaches (any kind but kHost, kForeign and kBeyond), at any alignment.
class DeviceEngine {
 public:
  // Work that was submitted and has not ended is waited for, for a second at most.
  virtual ~DeviceEngine() = default;

  // Makes all later work begin after `event`.
  virtual Status after(std::shared_ptr<DeviceEvent> event) = 0;
  virtual Status copy(void* dst, const void* source, size_t bytes) = 0;
  // Cut into launches that the device takes.
  Status reduce(const Reduction& reduction);
  // dst[i] = source[i] * *scalar; `scalar` is an element in the host's memory, read now.
  Status scale(DataType type, void* dst, const void* source, const void* scalar, uint64_t count);
  // Whether it can reduce so, at any address: compiles what that takes.
  Status prepare(ReduceOp op, DataType type);
  // Hands the device what was given since the last one. The number of this submission, from 1 on.
  virtual Result<uint64_t> submit() = 0;
  // Whether that submission, and so all before it, has ended. An error if the device is lost.
  virtual Result<bool> done_within(uint64_t submission, Patience patience) = 0;
  Result<bool> done(uint64_t submission) { return done_within(submission, {}); }

 protected:
  [[nodiscard]] virtual std::string name() const = 0;  // the name for errors
  // The most work-items of a launch; 0: it only copies.
  [[nodiscard]] virtual uint64_t most_work_items() const = 0;
  virtual Status compile(const DeviceKernel& kernel) = 0;
  virtual Status launch(const DeviceLaunch& launch) = 0;

 private:
  [[nodiscard]] bool has_kernel(ReduceOp op, DataType type) const;
  [[nodiscard]] Status no_kernel(ReduceOp op, DataType type, size_t sources) const;
  [[nodiscard]] uint64_t most_elements() const;
  Status reduce_piece(const Reduction& whole, uint64_t first, uint64_t count);
};
// Submits what was given, and waits until all has ended, for a second at most; whether it has. The
// destructor of an engine begins with it.
bool comes_to_rest(DeviceEngine& engine);

// Kinds of engines, for copies to run beside others if the device can do that.
enum class EngineKind : uint8_t { kCompute, kCopy };

// One context and device of an API.
class DeviceContext {
 public:
  virtual ~DeviceContext() = default;

  [[nodiscard]] virtual const DeviceApi& api() const = 0;
  [[nodiscard]] virtual const DeviceFacts& facts() const = 0;
  [[nodiscard]] virtual const NativeQueue& native() const = 0;
  // The name in errors: "opencl device 0 (pthread-...)".
  [[nodiscard]] std::string name() const;

  // The memory to which a pointer leads. Any thread.
  [[nodiscard]] virtual Result<MemoryPlace> place_of(const void* pointer) = 0;
  // kPinned or kDevice; aligned to 64 bytes at least. Any thread.
  virtual Result<void*> allocate(MemoryKind kind, size_t bytes) = 0;
  // Frees memory of allocate(). Nothing uses it any more. Any thread.
  virtual Status free(void* memory) = 0;

  virtual Result<std::unique_ptr<DeviceEngine>> make_engine(EngineKind kind) = 0;
  // The end of what is in the application's queue by now. This is the one function that touches
  // that queue, in the thread of the call.
  virtual Result<std::shared_ptr<DeviceEvent>> add_marker() = 0;
  virtual Result<std::shared_ptr<SignalledEvent>> make_event() = 0;

  // Whether the device reaches memory of that one, once open_memory() has opened it. Any thread.
  [[nodiscard]] virtual bool reaches(const DeviceUuid& other) const {
    return other == facts().uuid;
  }
  // The whole allocation at `base`, for a device of the same kind in another process of the host.
  // kUnsupported where it has no such thing.
  virtual Result<MemoryHandle> export_memory(void* base) = 0;
  virtual Result<void*> open_memory(const MemoryHandle& handle) = 0;
  virtual Status close_memory(void* opened) = 0;
};

}  // namespace tutti::devices
