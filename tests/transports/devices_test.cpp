// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#if defined(TUTTI_HAVE_LIBFABRIC)
#include "transports/ofi/devices.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tutti::ofi {
namespace {

namespace fs = std::filesystem;

// The root of a file system of a host with no devices.
class Devices : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "tutti_devices_XXXXXX";
    root_ = mkdtemp(name.data());
    fs::create_directories(root_ / "sys/class/net/eth0");
  }
  void TearDown() override { fs::remove_all(root_); }

  [[nodiscard]] bool may_have_fast_network() const {
    return ofi::may_have_fast_network(root_.string());
  }

  fs::path root_;
};

TEST_F(Devices, EthernetAloneIsNoFastNetwork) {
  EXPECT_FALSE(may_have_fast_network());
  fs::create_directories(root_ / "sys/class/infiniband");  // the driver alone
  EXPECT_FALSE(may_have_fast_network());
}

TEST_F(Devices, AreFoundWhereTheirDriversListThem) {
  for (const char* device : {"sys/class/infiniband/mlx5_0", "sys/class/cxi/cxi0"}) {
    fs::create_directories(root_ / device);
    EXPECT_TRUE(may_have_fast_network()) << device;
    fs::remove_all(root_ / device);
    EXPECT_FALSE(may_have_fast_network()) << device;
  }
}

TEST_F(Devices, AreFoundInContainersThatAreShownThemAlone) {
  fs::create_directories(root_ / "dev/infiniband");
  std::ofstream(root_ / "dev/infiniband/uverbs0") << "";
  EXPECT_TRUE(may_have_fast_network());
  fs::remove_all(root_ / "dev/infiniband");
  EXPECT_FALSE(may_have_fast_network());
  std::ofstream(root_ / "dev/cxi0") << "";
  EXPECT_TRUE(may_have_fast_network());
}

TEST_F(Devices, MayBeThereWhereTheSystemShowsNothing) {
  fs::remove_all(root_ / "sys");
  EXPECT_TRUE(may_have_fast_network());
}

}  // namespace
}  // namespace tutti::ofi
#endif
