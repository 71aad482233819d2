// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// PyTorch's streams on XPU as queues of tutti.h, by libtutti_sycl.so (sycl/tutti_sycl.h), which is
// opened when it is first asked for, and need not be there.
#pragma once

#include <c10/core/Device.h>
#include <tutti/tutti.h>

namespace tutti_torch::sycl_queues {

// Whether there is one for streams on this type of device. The whole process has one answer.
bool known();
inline bool are_on(c10::Device device) { return device.type() == c10::DeviceType::XPU; }

// A number for the thread's current stream on the device, as long as the process lives.
void* current(c10::Device device);
// Throws if the library cannot say.
tutti_queue native(void* stream);

}  // namespace tutti_torch::sycl_queues
