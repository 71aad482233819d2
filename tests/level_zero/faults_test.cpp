// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Tutti's engine for Level Zero where the driver fails: errors that say what, and no hang.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "level_zero/engine.hpp"

namespace tutti_test {
namespace {

using tutti::Code;
using tutti::DataType;
using tutti::Status;

// A folder for what the process keeps, which goes with it.
class CacheFolder {
 public:
  CacheFolder() : path_(std::filesystem::temp_directory_path() / "tutti-ze-cache-XXXXXX") {
    std::string name = path_;
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~CacheFolder() { std::filesystem::remove_all(path_); }
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  void choose() const { setenv("XDG_CACHE_HOME", path_.c_str(), 1); }
  [[nodiscard]] std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_ / "tutti")) {
      found.push_back(entry.path());
    }
    return found;
  }

 private:
  std::filesystem::path path_;
};

Status reduce_once(const Context& context, devices::DeviceEngine& engine, DataType type) {
  auto memory = context->allocate(devices::MemoryKind::kDevice, 4096);
  if (!memory.ok()) return memory.status();
  const void* const sources[] = {*memory, *memory};
  TUTTI_RETURN_IF_ERROR(
      engine.reduce({.type = type, .dst = *memory, .sources = sources, .count = 64}));
  return finish(engine);
}

Status use_a_device(DataType type) {
  TUTTI_RETURN_IF_ERROR(level_zero().open());
  auto context = level_zero().make(0);
  if (!context.ok()) return context.status();
  auto engine = (*context)->make_engine(devices::EngineKind::kCompute);
  if (!engine.ok()) return engine.status();
  return reduce_once(*context, **engine, type);
}

void expect_error(const Status& status, Code code, std::string_view text) {
  EXPECT_EQ(status.code(), code) << status.message();
  EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
  EXPECT_EQ(status.message().find('\n'), std::string::npos) << "more than one line";
}

TEST(LevelZeroFaults, WithoutADriverThatWorksThereAreNoDevices) {
  with_test_driver({{"FAIL_INIT", 1}}, [] {
    expect_error(level_zero().open(), Code::kUnsupported, "Level Zero: no driver works: zeInit: ");
    EXPECT_TRUE(level_zero().devices().empty());
    expect_error(level_zero().make(0).status(), Code::kUnsupported, "zeInit");
  });
}

TEST(LevelZeroFaults, WithoutDoublesAllOtherTypesAreReduced) {
  with_test_driver({{"NO_FP64", 1}}, [] {
    expect_error(use_a_device(DataType::kFloat64), Code::kUnsupported,
                 "level-zero device 0 (Tutti test device) has no float64");
    EXPECT_TRUE(use_a_device(DataType::kFloat32).ok());
  });
}

TEST(LevelZeroFaults, AModuleThatIsNotBuiltIsAnErrorOfTheCall) {
  with_test_driver({{"FAIL_BUILD", 1}}, [] {
    expect_error(use_a_device(DataType::kFloat32), Code::kSystem,
                 "level-zero device 0 (Tutti test device): zeModuleCreate: the module cannot be "
                 "built (0x70000004)");
  });
}

TEST(LevelZeroFaults, WantOfMemoryIsToldAsSuch) {
  with_test_driver({{"FAIL_ALLOC_AFTER", 0}}, [] {
    expect_error(use_a_device(DataType::kFloat32), Code::kOutOfMemory,
                 "4096 bytes of device memory: zeMemAllocDevice: out of device memory");
  });
}

TEST(LevelZeroFaults, RefusedHandlesAreErrors) {
  with_test_driver({{"FAIL_IPC_GET", 1}}, [] {
    const Context context = make_context();
    expect_error(context->export_memory(allocate<char>(context, 64)).status(), Code::kSystem,
                 "level-zero device 0 (Tutti test device): zeMemGetIpcHandle: not supported");
  });
  with_test_driver({{"FAIL_IPC_OPEN", 1}}, [] {
    const Context context = make_context();
    const devices::MemoryHandle handle = taken(context->export_memory(allocate<char>(context, 64)));
    expect_error(context->open_memory(handle).status(), Code::kSystem, "zeMemOpenIpcHandle");
  });
}

TEST(LevelZeroFaults, AKernelThatNeverEndsIsNeverDoneAndHoldsNobodyUp) {
  with_test_driver({{"STUCK_KERNEL", 0}}, [] {
    const Context context = make_context();
    Engine engine = make_engine(context);
    auto* const memory = allocate<float>(context, 64);
    const void* const sources[] = {memory};
    must(engine->reduce({.dst = memory, .sources = sources, .count = 64}));
    const uint64_t submission = taken(engine->submit());
    for (int look = 0; look < 100; ++look) {
      EXPECT_FALSE(taken(engine->done(submission)));
      tutti::yield_core();
    }
    engine.reset();  // does not wait for ever
    EXPECT_EQ(complaints(), 0) << "nothing that the device uses is destroyed";
  });
}

// Whichever call it is that finds the device lost.
TEST(LevelZeroFaults, ALostDeviceIsAnErrorThatSaysSo) {
  const Shared<std::atomic<int>> succeeded;
  for (int calls = 0; calls < 1000 && *succeeded == 0; calls += 3) {
    SCOPED_TRACE(calls);
    with_test_driver({{"LOST_AFTER", calls}, {"SHUFFLE", calls}}, [&] {
      const Status status = use_a_device(DataType::kFloat32);
      if (status.ok()) {
        ++*succeeded;
      } else {
        expect_error(status, status.code(), "the device is lost (0x70000001)");
      }
    });
  }
  EXPECT_GT(*succeeded, 0) << "with so many calls the device should be there until the end";
}

TEST(LevelZeroFaults, KernelsAreBuiltOnceAndKeptForTheirOwner) {
  const CacheFolder cache;
  for (const long built : {1, 0, 0}) {
    with_test_driver({}, [&] {
      cache.choose();
      EXPECT_TRUE(use_a_device(DataType::kFloat32).ok());
      EXPECT_EQ(calls("zeModuleGetNativeBinary"), 2 * built);
    });
  }
  ASSERT_EQ(cache.files().size(), 1u);
  struct stat found {};
  ASSERT_EQ(stat(cache.files().front().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  // One that is cut off is built again.
  std::filesystem::resize_file(cache.files().front(), static_cast<uintmax_t>(found.st_size) / 2);
  with_test_driver({}, [&] {
    cache.choose();
    EXPECT_TRUE(use_a_device(DataType::kFloat32).ok());
  });
}

}  // namespace
}  // namespace tutti_test
