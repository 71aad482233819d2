// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A driver of OpenCL like those of other vendors than Intel: it takes the kernels as source alone,
// has shared virtual memory, cannot say what a pointer is, and gives no handles of memory. PoCL is
// made to be one, whatever version it has.
#if __has_include(<CL/cl.h>)
#include <array>
#include <string_view>

#include "devices/opencl/inventory.hpp"
#include "views/on_views.hpp"

namespace tutti_test {
namespace {

namespace opencl = tutti::devices::opencl;

decltype(&::clGetDeviceInfo) told = nullptr;

// As the driver, but without extensions of Intel's and without a form of kernels besides source.
cl_int CL_API_CALL tell_less(cl_device_id device, cl_device_info what, size_t bytes, void* to,
                             size_t* length) {
  if (what == CL_DEVICE_IL_VERSION) return CL_INVALID_VALUE;
  const cl_int result = told(device, what, bytes, to, length);
  if (what != CL_DEVICE_EXTENSIONS || result != CL_SUCCESS || to == nullptr) return result;
  constexpr std::string_view kIntel = "cl_intel_";
  const std::string_view extensions(static_cast<char*>(to));
  for (size_t at = 0; (at = extensions.find(kIntel, at)) != std::string_view::npos;) {
    static_cast<char*>(to)[at] = 'x';
  }
  return result;
}

// Before the first look at what devices there are, in this process.
void make_plain() {
  const auto library = opencl::open_library();
  if (!library.ok()) return;
  auto& functions = const_cast<opencl::Library&>(**library);
  told = functions.clGetDeviceInfo;
  functions.clGetDeviceInfo = tell_less;
  functions.clCreateProgramWithIL = nullptr;
}

void every_collective(Collectives& on, const Variant& variant, size_t count) {
  const int root = on.ranks() - 1;
  on.allreduce(TUTTI_FLOAT32, Op::kSum, count, variant);
  on.allreduce(TUTTI_BFLOAT16, Op::kAvg, count, variant);
  on.allreduce(TUTTI_FLOAT16, Op::kPremul, count, variant);
  on.reduce_scatter(TUTTI_INT32, Op::kMax, count, variant);
  on.reduce_scatterv(TUTTI_FLOAT64, Op::kSum, count, variant);
  on.reduce(TUTTI_INT8, Op::kMin, count, root, variant);
  on.allgather(TUTTI_INT16, count, variant);
  on.allgatherv(TUTTI_INT8, count, variant);
  on.gather(TUTTI_INT32, count, root, variant);
  on.gatherv(TUTTI_INT32, count, root, variant);
  on.scatter(TUTTI_INT64, count, root, variant);
  on.scatterv(TUTTI_INT64, count, root, variant);
  on.barrier(variant);
  on.alltoall(TUTTI_FLOAT64, count, variant);
  on.alltoallv(TUTTI_FLOAT64, count, variant);
  if (variant.in_place) return;
  on.broadcast(TUTTI_INT8, count, root, variant);
  on.send_recv(TUTTI_INT8, count, variant);
}

TEST(PlainOpenCl, StagesEveryCollective) {
  const auto& api = *tutti::devices::device_api("opencl");
  const std::string why = why_no_device(api);
  if (!why.empty()) GTEST_SKIP() << why;
  Ranks ranks;
  ranks.count = 3;
  ranks.before = [](int) { make_plain(); };
  run_on_views(
      api, ranks, [](int) { return 0; },
      [](const OnView& view) {
        const auto& facts = view.queue.context().facts();
        ASSERT_EQ(facts.kernels, "source");
        ASSERT_FALSE(facts.ipc);
        ASSERT_FALSE(facts.tells_place);
        Collectives on(view.rank, view.view);
        for (const bool in_place : {false, true}) {
          every_collective(on, {Form::kBlocking, in_place, false}, 1001);
          every_collective(on, {Form::kNonBlocking, in_place, true}, 33);
        }
      });
}

TEST(PlainOpenCl, ReducesByKernelsFromSource) {
  const auto& api = *tutti::devices::device_api("opencl");
  const std::string why = why_no_device(api);
  if (!why.empty()) GTEST_SKIP() << why;
  Processes one;
  one.count = 1;
  run_processes(one, [&](int) {
    make_plain();
    const OwnQueue own(api);
    auto engine = own.context().make_engine(tutti::devices::EngineKind::kCompute);
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    auto memory = own.context().allocate(tutti::devices::MemoryKind::kDevice, 64);
    ASSERT_TRUE(memory.ok()) << memory.status().message();
    std::vector<float> numbers = {1, 2, 3, 4};
    ASSERT_TRUE((*engine)->copy(*memory, numbers.data(), 16).ok());
    const std::array<const void*, 2> sources = {*memory, *memory};
    const auto reduced = (*engine)->reduce({.op = tutti::ReduceOp::kSum,
                                            .type = tutti::DataType::kFloat32,
                                            .dst = *memory,
                                            .sources = sources,
                                            .count = 4});
    ASSERT_TRUE(reduced.ok()) << reduced.message();
    ASSERT_TRUE((*engine)->copy(numbers.data(), *memory, 16).ok());
    ASSERT_TRUE(comes_to_rest(**engine));
    EXPECT_EQ(numbers, (std::vector<float>{2, 4, 6, 8}));
    engine->reset();
    EXPECT_TRUE(own.context().free(*memory).ok());
  });
}

}  // namespace
}  // namespace tutti_test
#endif
