// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/level_zero/inventory.hpp"

#include <algorithm>
#include <string>

#include "core/log.hpp"
#include "kernels/device/modules.hpp"

namespace tutti::devices::level_zero {
namespace {

// The list that `get(&count, elements)` gives; it is called `function`.
template <typename T, typename Get>
Result<std::vector<T>> list_of(std::string_view function, const Get& get, const T& blank = T{}) {
  uint32_t count = 0;
  ze_result_t result = get(&count, nullptr);
  std::vector<T> found(count, blank);
  if (result == ZE_RESULT_SUCCESS && count > 0) result = get(&count, found.data());
  if (result != ZE_RESULT_SUCCESS) return failed(result, function);
  found.resize(std::min<size_t>(count, found.size()));
  return found;
}

Result<std::vector<ze_driver_handle_t>> drivers(const Library& ze) {
  return list_of<ze_driver_handle_t>(
      "zeDriverGet",
      [&](uint32_t* count, ze_driver_handle_t* found) { return ze.zeDriverGet(count, found); });
}

Result<std::vector<ze_device_handle_t>> devices_of(const Library& ze, ze_driver_handle_t driver) {
  return list_of<ze_device_handle_t>("zeDeviceGet",
                                     [&](uint32_t* count, ze_device_handle_t* devices) {
                                       return ze.zeDeviceGet(driver, count, devices);
                                     });
}

Result<std::vector<ze_device_handle_t>> parts_of(const Library& ze, ze_device_handle_t device) {
  return list_of<ze_device_handle_t>("zeDeviceGetSubDevices",
                                     [&](uint32_t* count, ze_device_handle_t* devices) {
                                       return ze.zeDeviceGetSubDevices(device, count, devices);
                                     });
}

// For reports alone: 0 where the driver does not tell.
uint64_t memory_of(const Library& ze, ze_device_handle_t device) {
  ze_device_memory_properties_t blank{};
  blank.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
  const auto memories = list_of<ze_device_memory_properties_t>(
      "zeDeviceGetMemoryProperties",
      [&](uint32_t* count, ze_device_memory_properties_t* found) {
        return ze.zeDeviceGetMemoryProperties(device, count, found);
      },
      blank);
  uint64_t bytes = 0;
  if (!memories.ok()) return bytes;
  for (const auto& memory : *memories) bytes += memory.totalSize;
  return bytes;
}

std::string driver_text(const Library& ze, ze_driver_handle_t driver) {
  ze_driver_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
  if (ze.zeDriverGetProperties(driver, &properties) != ZE_RESULT_SUCCESS) return "";
  std::string text = fmt::format("Level Zero driver {:#x}, ", properties.driverVersion);
  for (const uint8_t byte : properties.uuid.id) text += fmt::format("{:02x}", byte);
  return text;
}

// A driver without that function may have handles all the same: then the first one tells.
bool has_ipc(const Library& ze, ze_driver_handle_t driver) {
  ze_driver_ipc_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES;
  const ze_result_t result = ze.zeDriverGetIpcProperties(driver, &properties);
  if (result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE) return true;
  return result == ZE_RESULT_SUCCESS && (properties.flags & ZE_IPC_PROPERTY_FLAG_MEMORY) != 0;
}

Status find_queues(const Library& ze, Device& device) {
  ze_command_queue_group_properties_t blank{};
  blank.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
  const auto listed = list_of<ze_command_queue_group_properties_t>(
      "zeDeviceGetCommandQueueGroupProperties",
      [&](uint32_t* count, ze_command_queue_group_properties_t* found) {
        return ze.zeDeviceGetCommandQueueGroupProperties(device.id, count, found);
      },
      blank);
  if (!listed.ok()) return listed.status();
  const std::vector<ze_command_queue_group_properties_t>& groups = *listed;
  constexpr ze_command_queue_group_property_flags_t kCompute =
      ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE;
  constexpr ze_command_queue_group_property_flags_t kCopy =
      ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
  // The first that can do so, of these two.
  const auto find = [&](ze_command_queue_group_property_flags_t flags) -> std::optional<uint32_t> {
    for (uint32_t ordinal = 0; ordinal < groups.size(); ++ordinal) {
      const bool fits = (groups[ordinal].flags & (kCompute | kCopy)) == flags;
      if (fits && groups[ordinal].numQueues > 0) return ordinal;
    }
    return std::nullopt;
  };
  const std::optional<uint32_t> both = find(kCompute | kCopy);
  const std::optional<uint32_t> compute = both ? both : find(kCompute);
  device.copy_ordinal = find(kCopy);
  device.queue_groups = static_cast<uint32_t>(groups.size());
  if (!compute || (!both && !device.copy_ordinal)) {
    return Status::format(Code::kUnsupported, "device {} has no queues for kernels and copies",
                          device.facts.name);
  }
  device.compute_ordinal = *compute;
  // Applications take the first ones: what they wait for there does not hold up ours.
  device.compute_queue = groups[*compute].numQueues - 1;
  return {};
}

bool runs_kernels(ze_device_type_t type) {
  return type == ZE_DEVICE_TYPE_GPU || type == ZE_DEVICE_TYPE_CPU;
}

// Nothing if it runs no kernels.
Result<std::optional<Device>> describe(const Library& ze, ze_driver_handle_t driver,
                                       ze_device_handle_t id) {
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  TUTTI_LEVEL_ZERO_CALL(ze, zeDeviceGetProperties, id, &properties);
  if (!runs_kernels(properties.type)) return std::optional<Device>();
  ze_device_module_properties_t module{};
  module.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES;
  TUTTI_LEVEL_ZERO_CALL(ze, zeDeviceGetModuleProperties, id, &module);
  ze_device_compute_properties_t compute{};
  compute.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES;
  TUTTI_LEVEL_ZERO_CALL(ze, zeDeviceGetComputeProperties, id, &compute);
  Device device{.driver = driver, .id = id, .facts = {}};
  device.group_size =
      std::clamp<uint32_t>(std::min(compute.maxTotalGroupSize, compute.maxGroupSizeX), 1, 256);
  device.most_groups = std::max(compute.maxGroupCountX, 1U);
  device.facts.name = properties.name;
  device.facts.driver = driver_text(ze, driver) + fmt::format(", {:#x}", properties.deviceId);
  device.facts.memory_bytes = memory_of(ze, id);
  device.facts.vendor_id = properties.vendorId;
  device.facts.fp64 = (module.flags & ZE_DEVICE_MODULE_FLAG_FP64) != 0;
  device.facts.ipc = has_ipc(ze, driver);
  std::copy(std::begin(properties.uuid.id), std::end(properties.uuid.id),
            device.facts.uuid.begin());
  device.facts.tells_place = true;
  const bool takes_spirv = module.spirvVersionSupported >= ZE_MAKE_VERSION(1, 0) &&
                           !device_spirv(DataType::kFloat32, DeviceVariant::kVector).empty();
  device.facts.kernels = takes_spirv ? "SPIR-V" : "";
  TUTTI_RETURN_IF_ERROR(find_queues(ze, device));
  return std::optional<Device>(std::move(device));
}

class Taking {
 public:
  explicit Taking(const Library& ze) : ze_(ze) {}

  // A useless driver or device does not keep others from being found.
  void add_all() {
    const auto found = drivers(ze_);
    if (!found.ok()) return skip(found.status());
    for (ze_driver_handle_t const driver : *found) {
      const auto cards = devices_of(ze_, driver);
      if (!cards.ok()) {
        skip(cards.status());
        continue;
      }
      for (ze_device_handle_t const card : *cards) add(driver, card, -1);
    }
  }

  Result<Inventory> result() && {
    if (!found_.devices.empty()) return std::move(found_);
    return Status::format(Code::kUnsupported, "Level Zero: {}", why_);
  }

 private:
  void add(ze_driver_handle_t driver, ze_device_handle_t id, int parent) {
    Result<std::optional<Device>> device = describe(ze_, driver, id);
    if (!device.ok()) return skip(device.status());
    if (!*device) return;
    const auto index = static_cast<int>(found_.devices.size());
    (*device)->facts.index = index;
    (*device)->facts.parent = parent;
    found_.facts.push_back((*device)->facts);
    found_.devices.push_back(**std::move(device));
    if (parent >= 0) return;
    const auto parts = parts_of(ze_, id);
    if (!parts.ok()) return skip(parts.status());
    for (ze_device_handle_t const part : *parts) add(driver, part, index);
  }

  void skip(const Status& why) {
    why_ = why.message();
    log::info("Level Zero: {}", why_);
  }

  const Library& ze_;
  Inventory found_;
  std::string why_ = "no driver has a GPU or CPU";
};

Result<Inventory> take() {
  TUTTI_ASSIGN_OR_RETURN(const Library* library, open_library());
  const Library& ze = *library;
  if (const ze_result_t result = ze.zeInit(0); result != ZE_RESULT_SUCCESS) {
    return Status::format(Code::kUnsupported, "Level Zero: no driver works: {}",
                          failed(result, "zeInit").message());
  }
  Taking taking(ze);
  taking.add_all();
  return std::move(taking).result();
}

}  // namespace

// Memory of a card may be used by its parts.
bool reaches(const Library& ze, const Device& device, const Device& other) {
  if (device.id == other.id || device.facts.uuid == other.facts.uuid) return true;
  if (device.driver != other.driver) return false;
  if (device.facts.parent == other.facts.index) return true;
  ze_bool_t can = 0;
  return ze.zeDeviceCanAccessPeer(device.id, other.id, &can) == ZE_RESULT_SUCCESS && can != 0;
}

const Device* find_device(ze_device_handle_t id) {
  const Result<const Inventory*> all = inventory();
  if (!all.ok()) return nullptr;
  const auto found = std::ranges::find((*all)->devices, id, &Device::id);
  return found == (*all)->devices.end() ? nullptr : &*found;
}

Result<const Inventory*> inventory() {
  static const Result<Inventory> found = take();
  if (!found.ok()) return found.status();
  return &*found;
}

}  // namespace tutti::devices::level_zero
