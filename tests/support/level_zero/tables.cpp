// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the loader asks a driver for: a table of functions for each kind of object. All must be
// there; an entry that is null is a function that this driver does not have.
#include <level_zero/ze_ddi.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>

#include "support/level_zero/calls.hpp"

namespace {

template <typename Table>
ze_result_t return_table(ze_api_version_t version, Table* table, void (*fill)(Table*)) {
  if (!table) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  if (ZE_MAJOR_VERSION(version) != ZE_MAJOR_VERSION(ZE_API_VERSION_CURRENT)) {
    return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
  }
  *table = Table{};
  if (fill) fill(table);
  return ZE_RESULT_SUCCESS;
}

}  // namespace

#define TUTTI_ZE_TABLE(prefix, kind, type, fill)                                      \
  extern "C" __attribute__((visibility("default")))                                   \
  ze_result_t ZE_APICALL prefix##Get##kind##ProcAddrTable(ze_api_version_t version,   \
                                                          type##_dditable_t* table) { \
    return return_table<type##_dditable_t>(version, table, fill);                     \
  }

TUTTI_ZE_TABLE(ze, Global, ze_global, tutti_test::ze::fill)
TUTTI_ZE_TABLE(ze, Driver, ze_driver, tutti_test::ze::fill)
TUTTI_ZE_TABLE(ze, Device, ze_device, tutti_test::ze::fill)
TUTTI_ZE_TABLE(ze, DeviceExp, ze_device_exp, nullptr)
TUTTI_ZE_TABLE(ze, Context, ze_context, tutti_test::ze::fill)
TUTTI_ZE_TABLE(ze, CommandQueue, ze_command_queue, tutti_test::ze::fill)
TUTTI_ZE_TABLE(ze, CommandList, ze_command_list, tutti_test::ze::fill)
TUTTI_ZE_TABLE(ze, Image, ze_image, nullptr)
TUTTI_ZE_TABLE(ze, ImageExp, ze_image_exp, nullptr)
TUTTI_ZE_TABLE(ze, Fence, ze_fence, tutti_test::ze::fill)
TUTTI_ZE_TABLE(ze, EventPool, ze_event_pool, tutti_test::ze::fill)
TUTTI_ZE_TABLE(ze, Event, ze_event, tutti_test::ze::fill)
TUTTI_ZE_TABLE(ze, EventExp, ze_event_exp, nullptr)
TUTTI_ZE_TABLE(ze, Module, ze_module, tutti_test::ze::fill)
TUTTI_ZE_TABLE(ze, ModuleBuildLog, ze_module_build_log, tutti_test::ze::fill)
TUTTI_ZE_TABLE(ze, Kernel, ze_kernel, tutti_test::ze::fill)
TUTTI_ZE_TABLE(ze, KernelExp, ze_kernel_exp, nullptr)
TUTTI_ZE_TABLE(ze, Sampler, ze_sampler, nullptr)
TUTTI_ZE_TABLE(ze, PhysicalMem, ze_physical_mem, nullptr)
TUTTI_ZE_TABLE(ze, Mem, ze_mem, tutti_test::ze::fill)
TUTTI_ZE_TABLE(ze, VirtualMem, ze_virtual_mem, nullptr)
TUTTI_ZE_TABLE(ze, FabricVertexExp, ze_fabric_vertex_exp, nullptr)
TUTTI_ZE_TABLE(ze, FabricEdgeExp, ze_fabric_edge_exp, nullptr)
TUTTI_ZE_TABLE(zet, Device, zet_device, nullptr)
TUTTI_ZE_TABLE(zet, Context, zet_context, nullptr)
TUTTI_ZE_TABLE(zet, CommandList, zet_command_list, nullptr)
TUTTI_ZE_TABLE(zet, Module, zet_module, nullptr)
TUTTI_ZE_TABLE(zet, Kernel, zet_kernel, nullptr)
TUTTI_ZE_TABLE(zet, MetricGroup, zet_metric_group, nullptr)
TUTTI_ZE_TABLE(zet, MetricGroupExp, zet_metric_group_exp, nullptr)
TUTTI_ZE_TABLE(zet, Metric, zet_metric, nullptr)
TUTTI_ZE_TABLE(zet, MetricStreamer, zet_metric_streamer, nullptr)
TUTTI_ZE_TABLE(zet, MetricQueryPool, zet_metric_query_pool, nullptr)
TUTTI_ZE_TABLE(zet, MetricQuery, zet_metric_query, nullptr)
TUTTI_ZE_TABLE(zet, TracerExp, zet_tracer_exp, nullptr)
TUTTI_ZE_TABLE(zet, Debug, zet_debug, nullptr)
TUTTI_ZE_TABLE(zes, Driver, zes_driver, nullptr)
TUTTI_ZE_TABLE(zes, Device, zes_device, nullptr)
TUTTI_ZE_TABLE(zes, Scheduler, zes_scheduler, nullptr)
TUTTI_ZE_TABLE(zes, PerformanceFactor, zes_performance_factor, nullptr)
TUTTI_ZE_TABLE(zes, Power, zes_power, nullptr)
TUTTI_ZE_TABLE(zes, Frequency, zes_frequency, nullptr)
TUTTI_ZE_TABLE(zes, Engine, zes_engine, nullptr)
TUTTI_ZE_TABLE(zes, Standby, zes_standby, nullptr)
TUTTI_ZE_TABLE(zes, Firmware, zes_firmware, nullptr)
TUTTI_ZE_TABLE(zes, Memory, zes_memory, nullptr)
TUTTI_ZE_TABLE(zes, FabricPort, zes_fabric_port, nullptr)
TUTTI_ZE_TABLE(zes, Temperature, zes_temperature, nullptr)
TUTTI_ZE_TABLE(zes, Psu, zes_psu, nullptr)
TUTTI_ZE_TABLE(zes, Fan, zes_fan, nullptr)
TUTTI_ZE_TABLE(zes, Led, zes_led, nullptr)
TUTTI_ZE_TABLE(zes, Ras, zes_ras, nullptr)
TUTTI_ZE_TABLE(zes, Diagnostics, zes_diagnostics, nullptr)
