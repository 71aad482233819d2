// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Commands that launch kernels, with the arguments that they have when they are appended.
#include <unistd.h>

#include "support/level_zero/calls.hpp"
#include "support/level_zero/device.hpp"
#include "support/level_zero/entry.hpp"
#include "support/level_zero/list.hpp"
#include "support/level_zero/module.hpp"
#include "support/level_zero/switches.hpp"

namespace tutti_test::ze {

namespace {

bool is_stuck() {
  static std::atomic<long> launches{0};
  return launches++ == switches().stuck_kernel;
}

[[noreturn]] void never_end() {
  while (true) pause();
}

// What the kernel is launched with; its pointers as commands see them.
Launch make_launch(ze_kernel_handle_t kernel, const ze_group_count_t& groups, Command& command) {
  Launch launch;
  launch.kernel = kernel->info.name;
  launch.groups = {groups.groupCountX, groups.groupCountY, groups.groupCountZ};
  for (size_t i = 0; i < 3; i++) {
    require(launch.groups[i] > 0 && kernel->size[i] > 0,
            ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, "no groups, or no size of a group");
    launch.size[i] = kernel->size[i];
  }
  require(groups.groupCountX <= static_cast<uint64_t>(switches().most_groups),
          ZE_RESULT_ERROR_INVALID_ARGUMENT, "more groups than a launch takes");
  for (size_t i = 0; i < kernel->arguments.size(); i++) {
    Argument argument = kernel->arguments[i];
    require(argument.kind != Argument::Kind::kUnset, ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "an argument of the kernel is not set");
    if (argument.pointer) {
      const Place place =
          find_place(kernel->module->context, kernel->module->device, argument.pointer, 0);
      if (kernel->memory[i].lock() != place.memory) {
        complain("an argument was set before its memory was freed and allocated again");
      }
      argument.pointer = place.at;
      command.memory.push_back(place.memory);
    }
    launch.arguments.push_back(std::move(argument));
  }
  return launch;
}

ze_result_t launch_kernel(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                          const ze_group_count_t* groups, ze_event_handle_t signal,
                          uint32_t wait_count, ze_event_handle_t* waits) {
  require(kernel != nullptr, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "no kernel");
  require(groups != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no count of groups");
  require(list->ordinal == compute_group(), ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
          "the list only copies");
  require(kernel->module->context == list->context &&
              kernel->module->device->root == list->device->root,
          ZE_RESULT_ERROR_INVALID_ARGUMENT, "the kernel is of another context or device");
  Command command = make_command(list, signal, wait_count, waits);
  command.in_use.push_back(kernel->commands);
  command.run = [launch = make_launch(kernel, *groups, command), program = kernel->module->program,
                 stuck = is_stuck()] {
    if (stuck) never_end();
    if (!run_kernel(*program, launch)) complain("PoCL does not run " + launch.kernel);
  };
  append(list, std::move(command));
  return ZE_RESULT_SUCCESS;
}

}  // namespace

void fill_launches(ze_command_list_dditable_t* table) {
  table->pfnAppendLaunchKernel = entry<launch_kernel>("zeCommandListAppendLaunchKernel");
}

}  // namespace tutti_test::ze
