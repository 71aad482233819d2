// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/tuning_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "env/fake_environment.hpp"

namespace tutti {
namespace {

Tuning example() {
  Tuning tuning;
  tuning.key = this_machine();
  tuning.machine.line_s = 1.25e-7;
  tuning.choices = {
      {Collective::kBarrier, 4, 2, 0, 0, find_algorithm(Collective::kBarrier, "dissemination")}};
  return tuning;
}

// A folder that is gone at the end.
class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "tutti_tuning_XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void write_file(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(TuningFile, IsWrittenWholeForItsUserAlone) {
  const Folder folder;
  const std::string path = folder / "a/b/tuning.json";
  ASSERT_TRUE(write_tuning_file(path, example()).ok());
  ASSERT_TRUE(write_tuning_file(path, example()).ok()) << "over an old one";
  struct stat found {};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600U);
  ASSERT_EQ(stat((folder / "a/b").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0700U);
  const auto entries = std::filesystem::directory_iterator(folder / "a/b");
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1) << "nothing temporary stays";
  const auto read = read_tuning_file(path);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(print_tuning(*read), print_tuning(example()));
}

TEST(TuningFile, ThatCannotBeWrittenIsAnErrorWithItsName) {
  const Folder folder;
  write_file(folder / "plain", "");
  for (const std::string& path : {folder / "plain/x.json", std::string("/proc/none/x.json")}) {
    const Status status = write_tuning_file(path, example());
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.message().find("tuning file /"), std::string::npos) << status.message();
  }
}

TEST(TuningFile, ThatIsNamedMustBeUsable) {
  const Folder folder;
  write_file(folder / "bad", "{");
  write_file(folder / "big", std::string(kMostTuningBytes + 1, ' '));
  for (const std::string& path : {folder / "missing", folder / "bad", folder / "big",
                                  std::string("/dev/zero"), std::string("/tmp")}) {
    Environment environment;
    environment.tuning_file = path;
    const auto found = find_tuning(environment, fake_environment({}));
    ASSERT_FALSE(found.ok()) << path;
    EXPECT_NE(found.status().message().find("TUTTI_TUNING_FILE"), std::string::npos);
    EXPECT_NE(found.status().message().find(path), std::string::npos) << found.status().message();
  }
}

TEST(TuningFile, OfTheCacheFolderIsFoundByItsKeyUnlessItIsBad) {
  const Folder folder;
  const Getter getter = fake_environment({{"XDG_CACHE_HOME", folder / ""}});
  const std::string path = *default_tuning_path(this_machine(), getter);
  EXPECT_EQ(find_tuning(Environment(), getter)->has_value(), false);
  ASSERT_TRUE(write_tuning_file(path, example()).ok());
  const auto found = *find_tuning(Environment(), getter);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->path, path);
  Environment none;
  none.tuning_file = "none";
  EXPECT_EQ(find_tuning(none, getter)->has_value(), false);

  Tuning other = example();
  other.key.version = "0.0.0";
  EXPECT_NE(*default_tuning_path(other.key, getter), path);
  ASSERT_TRUE(write_tuning_file(path, other).ok());
  EXPECT_EQ(find_tuning(Environment(), getter)->has_value(), false) << "of another version";
  write_file(path, "{");
  EXPECT_EQ(find_tuning(Environment(), getter)->has_value(), false);
}

TEST(TuningFile, LiesInTheCacheFolderOfTheUser) {
  const MachineKey key = this_machine();
  const auto of = [&](std::map<std::string, std::string> variables) {
    return default_tuning_path(key, fake_environment(std::move(variables))).value_or("nowhere");
  };
  EXPECT_TRUE(of({{"HOME", "/h"}}).starts_with("/h/.cache/tutti/tuning-"));
  EXPECT_TRUE(of({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/c"}}).starts_with("/c/tutti/tuning-"));
  EXPECT_TRUE(of({{"HOME", "/h"}, {"XDG_CACHE_HOME", "c"}}).starts_with("/h/.cache/"));
  EXPECT_EQ(of({}), "nowhere");
}

}  // namespace
}  // namespace tutti
