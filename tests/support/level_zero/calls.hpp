// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The functions of the driver, by the file that has them. tables.cpp says which functions of the
// specification they are.
#pragma once

#include <level_zero/ze_ddi.h>

namespace tutti_test::ze {

// Each fills the part of the tables that its file has the functions of.
void fill(ze_global_dditable_t* table);
void fill(ze_driver_dditable_t* table);
void fill(ze_device_dditable_t* table);
void fill(ze_context_dditable_t* table);
void fill(ze_mem_dditable_t* table);
void fill(ze_command_queue_dditable_t* table);
void fill(ze_fence_dditable_t* table);
void fill(ze_command_list_dditable_t* table);
void fill(ze_event_pool_dditable_t* table);
void fill(ze_event_dditable_t* table);
void fill(ze_module_dditable_t* table);
void fill(ze_module_build_log_dditable_t* table);
void fill(ze_kernel_dditable_t* table);

// Parts of the tables above.
void fill_ipc(ze_mem_dditable_t* table);
void fill_orders(ze_command_list_dditable_t* table);
void fill_copies(ze_command_list_dditable_t* table);
void fill_launches(ze_command_list_dditable_t* table);

}  // namespace tutti_test::ze
