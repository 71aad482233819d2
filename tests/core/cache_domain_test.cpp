// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/cache_domain.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "core/topology.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

// A directory with files as /sys has them.
class CacheDomain : public testing::Test {
 protected:
  CacheDomain() {
    std::string name = (fs::temp_directory_path() / "tutti-domain-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~CacheDomain() override { fs::remove_all(root_); }

  [[nodiscard]] fs::path cpu(int core) const {
    return root_ / "sys/devices/system/cpu" / ("cpu" + std::to_string(core));
  }
  void cache(int core, const std::string& cores) {
    fs::create_directories(cpu(core) / "cache/index3");
    std::ofstream(cpu(core) / "cache/index3/shared_cpu_list") << cores << '\n';
  }
  void node(int core, int number, const std::string& cores) {
    const fs::path folder = root_ / "sys/devices/system/node" / ("node" + std::to_string(number));
    fs::create_directories(folder);
    std::ofstream(folder / "cpulist") << cores << '\n';
    fs::create_directories(cpu(core));
    fs::create_directory_symlink(folder, cpu(core) / folder.filename());
  }
  [[nodiscard]] int of(const std::vector<int>& cores) const {
    return cache_domain_of(cores, root_.string());
  }

  fs::path root_;
};

TEST_F(CacheDomain, IsTheSharedCache) {
  for (const int core : {0, 1, 2, 3}) cache(core, core < 2 ? "0-1" : "2-3");
  EXPECT_EQ(of({0}), 0);
  EXPECT_EQ(of({0, 1}), 0);
  EXPECT_EQ(of({3}), 2);
  EXPECT_EQ(of({2, 3}), 2);
}

TEST_F(CacheDomain, OfCoresInSeveralIsNone) {
  for (const int core : {0, 1, 2, 3}) cache(core, core < 2 ? "0-1" : "2-3");
  EXPECT_EQ(of({1, 2}), kNoCacheDomain);
  EXPECT_EQ(of({0, 1, 2, 3}), kNoCacheDomain);
}

// As numbered by Linux: the second threads of the cores come after all first ones.
TEST_F(CacheDomain, ListsMayHaveGaps) {
  cache(9, "8-15,72-79");
  cache(72, "8-15,72-79");
  EXPECT_EQ(of({9, 73}), 8);
  EXPECT_EQ(of({72}), 8);
  EXPECT_EQ(of({9, 16}), kNoCacheDomain);
}

TEST_F(CacheDomain, OfACacheThatServesSeveralNodesIsANode) {
  for (const int core : {0, 1, 2, 3}) {
    cache(core, "0-3");
    node(core, core < 2 ? 0 : 1, core < 2 ? "0-1" : "2-3");
  }
  EXPECT_EQ(of({0, 1}), 0);
  EXPECT_EQ(of({3}), 2);
  EXPECT_EQ(of({1, 2}), kNoCacheDomain);
}

TEST_F(CacheDomain, OfANodeWithSeveralCachesIsACache) {
  for (const int core : {0, 2}) {
    cache(core, core < 2 ? "0-1" : "2-3");
    node(core, 0, "0-3");
  }
  EXPECT_EQ(of({0, 1}), 0);
  EXPECT_EQ(of({2}), 2);
}

TEST_F(CacheDomain, IsTheNodeWhereNoCacheIsTold) {
  node(5, 1, "4-7");
  EXPECT_EQ(of({5, 6}), 4);
  EXPECT_EQ(of({5, 8}), kNoCacheDomain);
}

TEST_F(CacheDomain, IsUnknownWhereNothingSensibleIsTold) {
  EXPECT_EQ(of({0}), kNoCacheDomain);
  EXPECT_EQ(of({}), kNoCacheDomain);
  for (const char* text : {"", "auto", "x-y", "1-2"}) {
    cache(0, text);
    EXPECT_EQ(of({0}), kNoCacheDomain) << text;
  }
}

// Whatever it is here, one core lies in one domain at most.
TEST(CacheDomainHere, OfACoreContainsIt) {
  const std::vector<int> cores = usable_cores();
  const int domain = cache_domain_of(std::vector{cores.front()});
  EXPECT_GE(domain, kNoCacheDomain);
  EXPECT_LE(domain, cores.front());
}

TEST(CacheDomainChoice, IsAutoNoneOrANumber) {
  EXPECT_TRUE(parse_cache_domain("auto")->automatic);
  EXPECT_FALSE(parse_cache_domain("none")->automatic);
  EXPECT_EQ(parse_cache_domain("none")->number, kNoCacheDomain);
  EXPECT_EQ(parse_cache_domain("0")->number, 0);
  EXPECT_EQ(parse_cache_domain("17")->number, 17);
  EXPECT_FALSE(parse_cache_domain("17")->automatic);
  for (const char* text : {"", "-1", "1.5", "one", "1,2", "99999999999"}) {
    EXPECT_FALSE(parse_cache_domain(text)) << text;
  }
}

}  // namespace
}  // namespace tutti
