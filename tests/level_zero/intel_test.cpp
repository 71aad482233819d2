// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Intel's driver without its hardware: it compiles our kernels and encodes our commands, and
// executes none of them. So what is computed is not looked at; that no call fails and that no
// kernel spills is.
#include <dlfcn.h>

#include "kernels/device/modules.hpp"
#include "level_zero/engine.hpp"

namespace tutti_test {
namespace {

using tutti::DataType;
using tutti::DeviceVariant;

struct Product {
  const char* name;
  int tiles;  // of each card; 0: it has none
};
constexpr int kCards = 2;

// Cards of this product, which the driver makes up, and whose commands it captures.
void choose_intel_driver(const Product& product) {
  unsetenv("ZE_ENABLE_ALT_DRIVERS");
  setenv("ZE_ENABLE_VALIDATION_LAYER", "1", 1);
  setenv("ZE_ENABLE_PARAMETER_VALIDATION", "1", 1);
  setenv("NEOReadDebugKeys", "1", 1);
  setenv("SetCommandStreamReceiver", "1", 1);
  setenv("ProductFamilyOverride", product.name, 1);
  setenv("HardwareInfoOverride", "2x8x8", 1);
  setenv("AUBDumpCaptureFileName", "/dev/null", 1);
  setenv("CreateMultipleRootDevices", std::to_string(kCards).c_str(), 1);
  if (product.tiles > 0) {
    setenv("CreateMultipleSubDevices", std::to_string(product.tiles).c_str(), 1);
  }
}

// Whether there is such a driver, found out in a process of its own.
bool has_intel_driver() {
  const Shared<std::atomic<bool>> found;
  run_processes(Processes{},
                [&](int) { *found = dlopen("libze_intel_gpu.so.1", RTLD_NOW) != nullptr; });
  return *found;
}

void expect_no_spills(const ZeClient& ze, DataType type, DeviceVariant variant) {
  const auto spirv = tutti::device_spirv(type, variant);
  ASSERT_FALSE(spirv.empty());
  const ze_module_desc_t desc{ZE_STRUCTURE_TYPE_MODULE_DESC,
                              nullptr,
                              ZE_MODULE_FORMAT_IL_SPIRV,
                              spirv.size(),
                              spirv.data(),
                              "-ze-opt-greater-than-4GB-buffer-required",
                              nullptr};
  ze_module_handle_t module = nullptr;
  ZE_MUST(zeModuleCreate(ze.context, ze.device, &desc, &module, nullptr));
  uint32_t count = 0;
  ZE_MUST(zeModuleGetKernelNames(module, &count, nullptr));
  std::vector<const char*> names(count);
  ZE_MUST(zeModuleGetKernelNames(module, &count, names.data()));
  for (const char* const name : names) {
    const ze_kernel_desc_t of_kernel{ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, name};
    ze_kernel_handle_t kernel = nullptr;
    ZE_MUST(zeKernelCreate(module, &of_kernel, &kernel));
    ze_kernel_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
    ZE_MUST(zeKernelGetProperties(kernel, &properties));
    // Which is never launched.
    const bool average_of_bytes = variant == DeviceVariant::kVector &&
                                  tutti::type_size(type) == 1 && std::string_view(name) == "avg";
    if (!average_of_bytes) {
      EXPECT_EQ(properties.spillMemSize, 0u) << name << " of " << tutti::type_name(type);
    }
    ZE_MUST(zeKernelDestroy(kernel));
  }
  ZE_MUST(zeModuleDestroy(module));
}

void use_every_type(const Context& context) {
  const Engine engine = make_engine(context);
  auto* const memory = allocate<char>(context, 3 * 4096);
  std::vector<char> host(4096);
  must(engine->copy(memory, host.data(), host.size()));
  for (int t = 0; t < tutti::kDataTypes; ++t) {
    const auto type = static_cast<DataType>(t);
    if (part_type(type) == DataType::kFloat64 && !context->facts().fp64) continue;
    for (const size_t offset : {size_t{0}, size_t{1}}) {  // by vectors, and by elements
      const void* const sources[] = {memory + offset, memory + 4096 + offset};
      must(engine->reduce(
          {.type = type, .dst = memory + 8192 + offset, .sources = sources, .count = 100}));
    }
  }
  must(engine->copy(host.data(), memory + 8192, host.size()));
  must(finish(*engine));
  must(context->free(memory));
}

void use_every_device(int tiles) {
  must(level_zero().open());
  const int of_card = 1 + tiles;
  ASSERT_EQ(level_zero().devices().size(), static_cast<size_t>(kCards * of_card));
  for (const devices::DeviceFacts& facts : level_zero().devices()) {
    const int card = facts.index / of_card * of_card;
    EXPECT_EQ(facts.parent, facts.index == card ? -1 : card) << facts.index;
    const Context context = make_context(facts.index);
    const auto mark = taken(context->add_marker());
    use_every_type(context);
    EXPECT_TRUE(taken(mark->done()));
    auto* const memory = allocate<char>(context, 100);
    EXPECT_EQ(taken(context->place_of(memory + 99)).base, memory);
  }
}

class LevelZeroIntel : public testing::TestWithParam<Product> {
 protected:
  void SetUp() override {
    if (kSanitized) {
      GTEST_SKIP() << "Intel's driver has to be opened with RTLD_DEEPBIND, which sanitizers refuse";
    }
    if (!has_intel_driver()) {
      GTEST_SKIP() << "libze_intel_gpu.so.1 is not installed (Debian: intel-opencl-icd)";
    }
  }
};

TEST_P(LevelZeroIntel, TakesEveryCallOnEveryCardAndTile) {
  run_processes(Processes{}, [](int) {
    choose_intel_driver(GetParam());
    use_every_device(GetParam().tiles);
  });
}

TEST_P(LevelZeroIntel, CompilesEveryKernelWithoutSpills) {
  run_processes(Processes{}, [](int) {
    choose_intel_driver(GetParam());
    const ZeClient ze;
    const bool fp64 = make_context()->facts().fp64;
    for (int t = 0; t < tutti::kDataTypes; ++t) {
      if (tutti::is_complex(static_cast<DataType>(t))) continue;  // those of their parts
      if (static_cast<DataType>(t) == DataType::kFloat64 && !fp64) continue;
      for (const DeviceVariant variant : {DeviceVariant::kScalar, DeviceVariant::kVector}) {
        expect_no_spills(ze, static_cast<DataType>(t), variant);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Products, LevelZeroIntel,
                         testing::Values(Product{"pvc", 2}, Product{"dg2", 0}),
                         [](const auto& product) { return std::string(product.param.name); });

}  // namespace
}  // namespace tutti_test
