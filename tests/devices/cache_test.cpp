// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What is kept of compiled kernels, and of which memory is Tutti's.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "devices/allocations.hpp"
#include "devices/device_test.hpp"
#include "devices/kernel_cache.hpp"
#include "support/processes.hpp"

namespace tutti::devices {
namespace {

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/tutti-kernels-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const std::vector<unsigned char> kBinary = {1, 2, 3, 0, 255};

TEST(KernelCache, GivesBackWhatWasWrittenUnderItsKeyAlone) {
  const Folder folder;
  const KernelCache cache(folder.path() + "/a/b");
  EXPECT_FALSE(cache.read("driver 1\n").has_value());
  cache.write("driver 1\n", kBinary);
  EXPECT_EQ(cache.read("driver 1\n"), kBinary);
  EXPECT_FALSE(cache.read("driver 2\n").has_value());
}

TEST(KernelCache, KeepsFilesForTheirOwnerAndTrustsNoOthers) {
  const Folder folder;
  const KernelCache cache(folder.path());
  cache.write("key\n", kBinary);
  struct stat found {};
  ASSERT_EQ(stat(cache.path_of("key\n").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  ASSERT_EQ(chmod(cache.path_of("key\n").c_str(), 0622), 0);
  EXPECT_FALSE(cache.read("key\n").has_value());
}

TEST(KernelCache, GivesNoBinaryOfWhichAnyByteWasChangedOrCutOff) {
  const Folder folder;
  const KernelCache cache(folder.path());
  const std::string key = "key\n";
  cache.write(key, kBinary);
  const std::string path = cache.path_of(key);
  std::ifstream file(path, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(file), {});
  const auto keep = [&path](const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  };
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    keep(changed);
    EXPECT_FALSE(cache.read(key).has_value()) << "byte " << at;
    keep(whole.substr(0, at));
    EXPECT_FALSE(cache.read(key).has_value()) << "of " << at << " bytes";
  }
  keep(whole);
  EXPECT_EQ(cache.read(key), kBinary);
}

// Two processes write under one key again and again, one of them a long binary.
TEST(KernelCache, AReaderFindsAWholeBinary) {
  const Folder folder;
  const KernelCache cache(folder.path());
  constexpr size_t kSizes[] = {5, 400'000};
  cache.write("key\n", std::vector<unsigned char>(kSizes[0], 0));
  tutti_test::Processes three;
  three.count = 3;
  run_processes(three, [&](int process) {
    for (int round = 0; round < 100; ++round) {
      if (process < 2) {
        const auto byte = static_cast<unsigned char>(process);
        cache.write("key\n", std::vector<unsigned char>(kSizes[process], byte));
        continue;
      }
      const auto found = cache.read("key\n");
      ASSERT_TRUE(found.has_value());
      EXPECT_EQ(*found, std::vector<unsigned char>(kSizes[found->front()], found->front()));
    }
  });
  const std::filesystem::directory_iterator left(folder.path());
  EXPECT_EQ(std::distance(begin(left), end(left)), 1) << "no other file is left";
}

TEST(KernelCache, DoesWithoutAFolder) {
  const KernelCache none("");
  none.write("key\n", kBinary);
  EXPECT_FALSE(none.read("key\n").has_value());
  const KernelCache impossible("/proc/no/such/folder");
  impossible.write("key\n", kBinary);
  EXPECT_FALSE(impossible.read("key\n").has_value());
}

TEST(OwnAllocations, KnowTheirInsideAndTheirOwner) {
  OwnAllocations allocations;
  char memory[100];
  const int owner = 0;
  const int other = 0;
  allocations.add({.kind = MemoryKind::kDevice, .base = memory, .bytes = 100}, &owner);
  ASSERT_TRUE(allocations.find(memory + 99).has_value());
  EXPECT_EQ(allocations.find(memory + 99)->place.base, memory);
  EXPECT_FALSE(allocations.find(memory + 100).has_value());
  EXPECT_FALSE(allocations.remove(memory, &other));
  EXPECT_TRUE(allocations.remove(memory, &owner));
  EXPECT_FALSE(allocations.find(memory).has_value());
}

TEST(OwnAllocations, NeverUseANumberTwice) {
  OwnAllocations allocations;
  char memory[100];
  allocations.add({.base = memory, .bytes = 100}, nullptr);
  const uint64_t first = allocations.find(memory)->place.allocation;
  EXPECT_TRUE(allocations.remove(memory, nullptr));
  allocations.add({.base = memory, .bytes = 100}, nullptr);
  EXPECT_NE(allocations.find(memory)->place.allocation, first);
}

TEST(DeviceApis, AreFoundByTheirNamesAndNumbers) {
  for (const DeviceApi* const api : device_apis()) EXPECT_EQ(device_api(api->name), api);
  EXPECT_EQ(device_api(std::string_view("cuda")), nullptr);
  EXPECT_EQ(device_api(0), nullptr);
  EXPECT_EQ(device_api(1), device_api(std::string_view("opencl")));
}

class DeviceMemoryOf : public OnEveryApi {};

TEST_P(DeviceMemoryOf, IsKnownByItsAddresses) {
  const DeviceMemory memory(context_, MemoryKind::kDevice, 1000);
  const Result<MemoryPlace> place = context_->place_of(memory.data() + 999);
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(place->kind, MemoryKind::kDevice);
  EXPECT_EQ(place->base, memory.data());
  EXPECT_GE(place->bytes, 1000u);
  int on_host = 0;
  EXPECT_EQ(context_->place_of(&on_host)->kind, MemoryKind::kHost);
}

TEST_P(DeviceMemoryOf, AnotherContextIsForeign) {
  const DeviceMemory memory(context_, MemoryKind::kDevice, 1000);
  Result<std::shared_ptr<DeviceContext>> other = GetParam()->make(0);
  ASSERT_TRUE(other.ok());
  EXPECT_EQ((*other)->place_of(memory.data())->kind, MemoryKind::kForeign);
  EXPECT_EQ((*other)->free(memory.data()).code(), Code::kInvalidArgument);
}

TEST_P(DeviceMemoryOf, CopiesInTheOrderGiven) {
  const DeviceMemory memory(context_, MemoryKind::kDevice, 4096);
  for (unsigned char round = 0; round < 20; ++round) {
    std::vector<unsigned char> given(4096, round);
    std::vector<unsigned char> found(4096);
    ASSERT_TRUE(engine_->copy(memory.data(), given.data(), 4096).ok());
    ASSERT_TRUE(engine_->copy(found.data(), memory.data(), 4096).ok());
    finish(*engine_);
    ASSERT_EQ(found, given);
  }
}

TEST_P(DeviceMemoryOf, WorkBeginsAfterTheEventThatItWaitsFor) {
  const DeviceMemory memory(context_, MemoryKind::kDevice, 64);
  Result<std::shared_ptr<SignalledEvent>> event = context_->make_event();
  ASSERT_TRUE(event.ok()) << event.status().message();
  std::vector<unsigned char> given(64, 7);
  std::vector<unsigned char> found(64);
  ASSERT_TRUE(engine_->after(*event).ok());
  ASSERT_TRUE(engine_->copy(memory.data(), given.data(), 64).ok());
  ASSERT_TRUE(engine_->copy(found.data(), memory.data(), 64).ok());
  const Result<uint64_t> submission = engine_->submit();
  ASSERT_TRUE(submission.ok());
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(*engine_->done(*submission));
  EXPECT_FALSE(*(*event)->done());
  ASSERT_TRUE((*event)->signal({}).ok());
  finish(*engine_);
  EXPECT_EQ(found, given);
}

INSTANTIATE_TEST_SUITE_P(Apis, DeviceMemoryOf,
                         testing::ValuesIn(device_apis().begin(), device_apis().end()),
                         [](const auto& info) { return name_of(*info.param); });

}  // namespace
}  // namespace tutti::devices
