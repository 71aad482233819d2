// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Modules and kernels.
#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "support/level_zero/memory.hpp"
#include "support/level_zero/object.hpp"
#include "support/level_zero/pocl.hpp"
#include "support/level_zero/spirv.hpp"

struct _ze_module_handle_t : tutti_test::ze::Object {
  _ze_module_handle_t() : Object("module") {}
  ze_context_handle_t context = nullptr;
  ze_device_handle_t device = nullptr;
  std::vector<uint8_t> spirv;
  tutti_test::ze::ModuleInfo info;
  std::shared_ptr<tutti_test::ze::Program> program;
  int kernels = 0;  // that live
};

struct _ze_module_build_log_handle_t : tutti_test::ze::Object {
  explicit _ze_module_build_log_handle_t(std::string text_)
      : Object("module build log"), text(std::move(text_)) {}
  const std::string text;
};

struct _ze_kernel_handle_t : tutti_test::ze::Object {
  _ze_kernel_handle_t(ze_module_handle_t module_, const tutti_test::ze::KernelInfo& info_)
      : Object("kernel"),
        module(module_),
        info(info_),
        arguments(info.parameters.size()),
        memory(info.parameters.size()) {
    module->kernels++;
  }
  ~_ze_kernel_handle_t() override { module->kernels--; }
  const ze_module_handle_t module;
  const tutti_test::ze::KernelInfo info;
  std::vector<tutti_test::ze::Argument> arguments;
  // Of arguments that are pointers: drivers may keep more than the address.
  std::vector<std::weak_ptr<tutti_test::ze::Allocation>> memory;
  uint32_t size[3] = {0, 0, 0};  // of a group; not yet set
  // That launch it, and have begun to need it and are not done.
  const std::shared_ptr<std::atomic<int>> commands = std::make_shared<std::atomic<int>>(0);
};
