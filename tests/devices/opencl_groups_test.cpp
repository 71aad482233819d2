// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Devices of OpenCL that take a kernel in smaller groups than ours: the first device is made one.
#if __has_include(<CL/cl.h>)
#include "devices/device_test.hpp"
#include "devices/opencl/library.hpp"

namespace tutti::devices {
namespace {

constexpr size_t kMost = 24;  // work-items of a group

opencl::Library driver;

cl_int CL_API_CALL tell_few(cl_kernel, cl_device_id, cl_kernel_work_group_info, size_t, void* to,
                            size_t*) {
  *static_cast<size_t*>(to) = kMost;
  return CL_SUCCESS;
}

cl_int CL_API_CALL launch_few(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t* offset, const size_t* global, const size_t* local,
                              cl_uint events, const cl_event* list, cl_event* event) {
  if (*local > kMost) return CL_INVALID_WORK_GROUP_SIZE;
  return driver.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, events,
                                       list, event);
}

class OpenClGroups : public OnDevice {
 protected:
  void SetUp() override {
    set_up(*device_api("opencl"));
    if (context_ == nullptr) return;
    driver = functions();
    functions().clGetKernelWorkGroupInfo = tell_few;
    functions().clEnqueueNDRangeKernel = launch_few;
  }
  void TearDown() override {
    if (context_ != nullptr) functions() = driver;
  }

 private:
  static opencl::Library& functions() {
    return const_cast<opencl::Library&>(**opencl::open_library());
  }
};

TEST_F(OpenClGroups, AreAsSmallAsTheDeviceTakesThem) {
  constexpr size_t kCount = 1001;
  const DeviceMemory memory(context_, MemoryKind::kDevice, kCount * sizeof(float));
  std::vector<float> values(kCount);
  for (size_t i = 0; i < kCount; ++i) values[i] = static_cast<float>(i);
  ASSERT_TRUE(engine_->copy(memory.data(), values.data(), kCount * sizeof(float)).ok());
  const void* const sources[] = {memory.data(), memory.data()};
  const Status reduced =
      engine_->reduce({.dst = memory.data(), .sources = sources, .count = kCount});
  ASSERT_TRUE(reduced.ok()) << reduced.message();
  std::vector<float> sums(kCount);
  ASSERT_TRUE(engine_->copy(sums.data(), memory.data(), kCount * sizeof(float)).ok());
  finish(*engine_);
  for (float& value : values) value *= 2;
  EXPECT_EQ(sums, values);
}

}  // namespace
}  // namespace tutti::devices
#endif
