// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory of the test driver: who may touch it, what is known of it, and how it gets to others.
#include <algorithm>
#include <cstring>

#include "level_zero/client.hpp"
#include "level_zero/handles.hpp"

namespace tutti_test {
namespace {

constexpr uint64_t kForEver = 60'000'000'000;  // nanoseconds; ends a hang

TEST(LevelZeroDriverDeathTest, TheHostMayNotTouchMemoryOfADevice) {
  with_test_driver({}, [] {
    ZeClient ze;
    volatile char* const device = ze.allocate<char>(4096, true);
    EXPECT_DEATH(static_cast<void>(device[17]), "");
    EXPECT_DEATH(device[0] = 1, "");
  });
}

TEST(LevelZeroDriverDeathTest, NobodyTouchesWhatLiesBesideAnAllocation) {
  with_test_driver({}, [] {
    ZeClient ze;
    volatile char* const host = ze.allocate<char>(4096, false);
    EXPECT_DEATH(host[4096] = 1, "");
    EXPECT_DEATH(host[-1] = 1, "");
  });
}

TEST(LevelZeroDriver, ComplainsOfBytesWrittenAfterTheEndOfAnAllocation) {
  with_test_driver({}, [] {
    ZeClient ze;
    char* const host = ze.allocate<char>(100, false);
    host[100] = 1;
    ZE_MUST(zeMemFree(ze.context, host));
    EXPECT_EQ(complaints(), 1);
  });
}

TEST(LevelZeroDriver, KnowsWhatAPointerIs) {
  with_test_driver({{"DEVICES", 2}}, [] {
    ZeClient ze;
    char* const device = ze.allocate<char>(5000, true);
    ze_memory_allocation_properties_t found{};
    found.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    ze_device_handle_t of = nullptr;
    ZE_MUST(zeMemGetAllocProperties(ze.context, device + 4999, &found, &of));
    EXPECT_EQ(found.type, ZE_MEMORY_TYPE_DEVICE);
    EXPECT_EQ(of, ze.device);
    void* base = nullptr;
    size_t bytes = 0;
    ZE_MUST(zeMemGetAddressRange(ze.context, device + 4999, &base, &bytes));
    EXPECT_EQ(base, device);
    EXPECT_EQ(bytes, 5000u);
    ZE_MUST(zeMemGetAllocProperties(ze.context, &bytes, &found, &of));
    EXPECT_EQ(found.type, ZE_MEMORY_TYPE_UNKNOWN);
    const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    ze_context_handle_t other = nullptr;
    ZE_MUST(zeContextCreate(ze.driver, &desc, &other));
    ZE_MUST(zeMemGetAllocProperties(other, device, &found, &of));
    EXPECT_EQ(found.type, ZE_MEMORY_TYPE_UNKNOWN) << "of another context";
  });
}

TEST(LevelZeroDriver, CopiesOnlyWhatTheDeviceReaches) {
  with_test_driver({{"DEVICES", 2}, {"NO_PEERS", 1}}, [] {
    ZeClient ze;
    char* const of_first = ze.allocate<char>(64, true);
    char* const host = ze.allocate<char>(64, false);
    std::string of_nobody(64, ' ');
    ze_bool_t reaches = true;
    ZE_MUST(zeDeviceCanAccessPeer(ze.devices[1], ze.devices[0], &reaches));
    EXPECT_FALSE(reaches);
    ze.device = ze.devices[1];
    const ze_command_list_handle_t list = ze.immediate();
    const auto copy = [&](const void* from, size_t bytes) {
      return zeCommandListAppendMemoryCopy(list, host, from, bytes, nullptr, 0, nullptr);
    };
    EXPECT_NE(copy(of_first, 64), ZE_RESULT_SUCCESS);
    EXPECT_NE(copy(of_nobody.data(), 64), ZE_RESULT_SUCCESS);
    EXPECT_NE(copy(ze.allocate<char>(63, true), 64), ZE_RESULT_SUCCESS) << "too long";
    EXPECT_EQ(copy(ze.allocate<char>(64, true), 64), ZE_RESULT_SUCCESS);
  });
}

TEST(LevelZeroDriver, HasNoMoreMemoryThanItWasToldToHave) {
  with_test_driver({{"MEMORY_MB", 1}}, [] {
    ZeClient ze;
    char* const most = ze.allocate<char>(1 << 20, true);
    EXPECT_THROW(ze.allocate<char>(1, true), std::runtime_error);
    ZE_MUST(zeMemFree(ze.context, most));
    EXPECT_NO_THROW(ze.allocate<char>(1, true));
  });
}

void send_handle(int socket, const ze_ipc_mem_handle_t& handle) {
  HandleBytes bytes;
  std::memcpy(bytes.data(), &handle, sizeof handle);
  int fd = -1;
  std::memcpy(&fd, handle.data, sizeof fd);
  HandleMessage(bytes).send(socket, fd);
}

ze_ipc_mem_handle_t receive_handle(int socket) {
  HandleBytes bytes;
  const int fd = HandleMessage(bytes).receive(socket);
  ze_ipc_mem_handle_t handle{};
  std::memcpy(&handle, bytes.data(), sizeof handle);
  std::memcpy(handle.data, &fd, sizeof fd);
  return handle;
}

constexpr size_t kShared = 10000;

void write_and_share(ZeClient& ze, int socket) {
  char* const device = ze.allocate<char>(kShared, true);
  char* const host = ze.allocate<char>(kShared, false);
  for (size_t i = 0; i < kShared; i++) host[i] = static_cast<char>(i * 7);
  const ze_event_handle_t done = ze.event();
  ZE_MUST(zeCommandListAppendMemoryCopy(ze.immediate(), device, host, kShared, done, 0, nullptr));
  ZE_MUST(zeEventHostSynchronize(done, kForEver));
  ze_ipc_mem_handle_t handle{};
  EXPECT_NE(zeMemGetIpcHandle(ze.context, device + 100, &handle), ZE_RESULT_SUCCESS);
  ZE_MUST(zeMemGetIpcHandle(ze.context, device, &handle));
  send_handle(socket, handle);
}

void open_and_read(ZeClient& ze, int socket) {
  const ze_ipc_mem_handle_t handle = receive_handle(socket);
  void* opened = nullptr;
  ZE_MUST(zeMemOpenIpcHandle(ze.context, ze.device, handle, 0, &opened));
  EXPECT_EQ(live("opened memory"), 1);
  char* const host = ze.allocate<char>(kShared, false);
  const ze_event_handle_t done = ze.event();
  ZE_MUST(zeCommandListAppendMemoryCopy(ze.immediate(1), host, opened, kShared, done, 0, nullptr));
  ZE_MUST(zeEventHostSynchronize(done, kForEver));
  for (size_t i = 0; i < kShared; i++) ASSERT_EQ(host[i], static_cast<char>(i * 7)) << i;
  EXPECT_NE(zeMemFree(ze.context, opened), ZE_RESULT_SUCCESS) << "not this process's to free";
  ZE_MUST(zeMemCloseIpcHandle(ze.context, opened));
  EXPECT_EQ(live("opened memory"), 0);
}

TEST(LevelZeroDriver, MemoryIsOpenedByAnotherProcess) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
  const Meeting end(2);
  Processes two;
  two.count = 2;
  run_processes(two, [&](int index) {
    choose_test_driver({});
    ZeClient ze;
    if (index == 0) {
      write_and_share(ze, sockets[0]);
    } else {
      open_and_read(ze, sockets[1]);
    }
    end.wait();
  });
  close(sockets[0]);
  close(sockets[1]);
}

TEST(LevelZeroDriver, RefusesHandlesWhenToldSo) {
  with_test_driver({{"FAIL_IPC_GET", 1}}, [] {
    ZeClient ze;
    ze_ipc_mem_handle_t handle{};
    EXPECT_NE(zeMemGetIpcHandle(ze.context, ze.allocate<char>(64, true), &handle),
              ZE_RESULT_SUCCESS);
  });
  with_test_driver({{"FAIL_IPC_OPEN", 1}}, [] {
    ZeClient ze;
    ze_ipc_mem_handle_t handle{};
    ZE_MUST(zeMemGetIpcHandle(ze.context, ze.allocate<char>(64, true), &handle));
    void* opened = nullptr;
    EXPECT_NE(zeMemOpenIpcHandle(ze.context, ze.device, handle, 0, &opened), ZE_RESULT_SUCCESS);
  });
}

}  // namespace
}  // namespace tutti_test
