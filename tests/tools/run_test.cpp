// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti run, as a user would run it.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "core/topology.hpp"
#include "tools/command.hpp"

namespace tutti {
namespace {

using tutti_test::ClosedPipe;
using tutti_test::CommandResult;
using tutti_test::kIgnoresSigpipe;
using tutti_test::run_tutti;

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

using Lines = std::vector<std::string>;

TEST(Run, GivesEachRankItsPlace) {
  const CommandResult result = run_tutti(
      "run -n 3 sh -c 'echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $MASTER_ADDR'");
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(sorted_lines(result.output),
            (Lines{"0 3 0 3 127.0.0.1", "1 3 1 3 127.0.0.1", "2 3 2 3 127.0.0.1"}));
}

TEST(Run, TakesTheProgramBehindTwoDashesAsWell) {
  EXPECT_EQ(sorted_lines(run_tutti("run -n 2 --label -- echo one").output),
            (Lines{"[0] one", "[1] one"}));
  EXPECT_EQ(run_tutti("run -n 1 -- echo -- two").output, "-- two\n");
  EXPECT_EQ(run_tutti("run -n 1 echo -- three").output, "-- three\n");
}

TEST(Run, LooksAfterItsJobThoughNobodyReadsWhatItSays) {
  const ClosedPipe pipe;
  const auto run = run_tutti("run -n 2 sh -c 'exit 3' 2>&" + pipe.number(), kIgnoresSigpipe);
  EXPECT_EQ(run.exit_status, 3);
}

TEST(Run, GivesAllRanksOneJobAndOnePortAndEachRunItsOwn) {
  const auto job = [] {
    return sorted_lines(
        run_tutti("run -n 2 sh -c 'echo $TUTTI_JOB; echo $MASTER_PORT >&2' 2>&1").output);
  };
  const Lines one = job();
  ASSERT_EQ(one.size(), 4u);
  EXPECT_EQ(one[0], one[1]);
  EXPECT_EQ(one[2], one[3]);
  EXPECT_NE(one, job());
}

TEST(Run, CallsTheJobWhatTheUserCallsIt) {
  constexpr const char* kUsers = "env -u RANK TUTTI_JOB=mine ";
  EXPECT_EQ(run_tutti("run -n 2 sh -c 'echo $TUTTI_JOB'", kUsers).output, "mine\nmine\n");
  // Within a rank it is that of the job around it.
  const std::string inner = "'" TUTTI_COMMAND_PATH "' run -n 1 printenv TUTTI_JOB";
  const Lines both = sorted_lines(
      run_tutti("run -n 1 sh -c \"printenv TUTTI_JOB; " + inner + "\"", kUsers).output);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_NE(both[0], both[1]);
}

TEST(Run, LabelsEachLineAlsoTheLastWithoutAnEnd) {
  const CommandResult result =
      run_tutti("run -n 2 -l sh -c 'echo one; echo two >&2; printf three' 2>&1");
  EXPECT_EQ(sorted_lines(result.output),
            (Lines{"[0] one", "[0] three", "[0] two", "[1] one", "[1] three", "[1] two"}));
}

TEST(Run, LabelsLosesNothingOfMuchOutput) {
  const CommandResult result = run_tutti("run -n 3 -l sh -c 'seq 1 20000'");
  EXPECT_EQ(sorted_lines(result.output).size(), 60000u);
  EXPECT_TRUE(contains(result.output, "[2] 20000\n"));
}

TEST(Run, BreaksALineThatDoesNotEnd) {
  const CommandResult result =
      run_tutti("run -n 1 -l sh -c 'head -c 200000 /dev/zero | tr \"\\0\" x'");
  const Lines lines = sorted_lines(result.output);
  EXPECT_EQ(lines.size(), 4u);
  size_t payload = 0;
  for (const std::string& line : lines) payload += line.size() - 4;
  EXPECT_EQ(payload, 200000u);
}

TEST(Run, StandardInputGoesToRankZero) {
  const CommandResult result = run_tutti("run -n 2 -l sh -c 'wc -l' <<E\na\nb\nE");
  EXPECT_EQ(sorted_lines(result.output), (Lines{"[0] 2", "[1] 0"}));
}

TEST(Run, SetsTheVariablesThatTheUserGives) {
  const CommandResult result =
      run_tutti("run -n 1 -x A=1 -x B='2 3' -x MASTER_PORT=7 sh -c 'echo $A $B $MASTER_PORT'");
  EXPECT_EQ(result.output, "1 2 3 7\n");
}

TEST(Run, OptionsAfterTheProgramAreTheProgramsOwn) {
  EXPECT_EQ(run_tutti("run -n 1 echo -n 5 -l --help").output, "5 -l --help");
}

TEST(Run, ExitsWithTheStatusOfTheRankThatFailed) {
  const CommandResult result = run_tutti("run -n 2 sh -c 'exit $((RANK * 7))' 2>&1");
  EXPECT_EQ(result.exit_status, 7);
  EXPECT_TRUE(contains(result.output, "rank 1 (pid ")) << result.output;
  EXPECT_TRUE(contains(result.output, ") exited with status 7")) << result.output;
}

TEST(Run, EndsAllRanksWhenOneIsKilledAndSaysWhich) {
  const CommandResult result =
      run_tutti("run -n 3 sh -c 'if [ $RANK = 1 ]; then kill -9 $$; fi; sleep 600 & wait' 2>&1");
  EXPECT_EQ(result.exit_status, 128 + SIGKILL);
  EXPECT_TRUE(contains(result.output, "rank 1 (pid ")) << result.output;
  EXPECT_TRUE(contains(result.output, "was killed by signal 9 (Killed)")) << result.output;
  EXPECT_TRUE(contains(result.output, "after it was told to end")) << result.output;
}

TEST(Run, OthersGoOnIfAskedTo) {
  const CommandResult result = run_tutti(
      "run -n 2 --keep-going sh -c 'if [ $RANK = 1 ]; then kill -9 $$; fi; sleep 1; echo done' "
      "2>&1");
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_TRUE(contains(result.output, "was killed by signal 9 (Killed)")) << result.output;
  EXPECT_TRUE(contains(result.output, "done\n")) << result.output;
  EXPECT_EQ(run_tutti("run -n 2 --keep-going sh -c 'exit $((3 + RANK * 0))' 2>&1").exit_status, 3);
}

TEST(Run, ARankThatWillNotEndIsKilled) {
  const CommandResult result = run_tutti(
      "run -n 2 sh -c 'if [ $RANK = 1 ]; then exit 3; fi; trap \"\" TERM; while :; do sleep 1; "
      "done' "
      "2>&1");
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_TRUE(contains(result.output, "rank 0 (pid ")) << result.output;
  EXPECT_TRUE(contains(result.output, "was killed by signal 9")) << result.output;
}

TEST(Run, OthersMaySayWhatTheyKnowBeforeTheyAreEnded) {
  const CommandResult result = run_tutti(
      "run -n 2 sh -c 'if [ $RANK = 1 ]; then exit 3; fi; sleep 0.3; echo the peer has failed'");
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_EQ(result.output, "the peer has failed\n");
}

TEST(Run, LeavesNothingRunningThatItsRanksStarted) {
  // The sleeps hold the output open: reading it ends only when they have.
  EXPECT_EQ(run_tutti("run -n 2 sh -c 'sleep 3600 & exit 1' 2>&1").exit_status, 1);
}

TEST(Run, AProgramThatIsNotThereIsStatus127) {
  const CommandResult result = run_tutti("run -n 2 /no/such/program 2>&1");
  EXPECT_EQ(result.exit_status, 127);
  EXPECT_TRUE(contains(result.output, "cannot run \"/no/such/program\": No such file"))
      << result.output;
}

TEST(Run, AProgramThatMayNotRunIsStatus126) {
  EXPECT_EQ(run_tutti("run -n 2 /etc/passwd 2>&1").exit_status, 126);
}

TEST(Run, AJobThatTakesTooLongIsStatus124) {
  const CommandResult result = run_tutti("run -n 2 --timeout 1 sleep 600 2>&1");
  EXPECT_EQ(result.exit_status, 124);
  EXPECT_TRUE(contains(result.output, "did not end within 1 s")) << result.output;
}

TEST(Run, BindsRanksToDifferentCores) {
  if (usable_cores().size() < 2) GTEST_SKIP() << "one core";
  const CommandResult result =
      run_tutti("run -n 2 --bind-to core grep Cpus_allowed_list /proc/self/status");
  const Lines lines = sorted_lines(result.output);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0], lines[1]);
  EXPECT_EQ(lines[0].find_first_of(",-"), std::string::npos) << lines[0];
}

TEST(Run, WrongArgumentsAreErrorsThatNameThem) {
  const auto complaint = [](const std::string& line) {
    const CommandResult result = run_tutti(line + " 2>&1");
    EXPECT_NE(result.exit_status, 0) << line;
    return result.output;
  };
  EXPECT_TRUE(contains(complaint("run -n 2"), "program is required"));
  EXPECT_TRUE(contains(complaint("run true"), "--ranks is required"));
  EXPECT_TRUE(contains(complaint("run -n 0 true"), "Value 0 not in range"));
  EXPECT_TRUE(contains(complaint("run -n 2 -x NOVALUE true"), "\"NOVALUE\": expected VAR=VALUE"));
  EXPECT_TRUE(contains(complaint("run -n 2 --no-such true"), "--no-such"));
  EXPECT_TRUE(
      contains(complaint("run -n 4000 --bind-to core true"), "4000 ranks need as many cores"));
}

// Starts `tutti run` with these arguments, reads `ready` lines from it, sends it a signal, and
// returns all it wrote and its status as waitpid gives it.
struct Signalled {
  std::string output;
  int status;
};
Signalled run_and_signal(std::vector<std::string> arguments, int ready, int signal) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const int pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    arguments.insert(arguments.begin(), {TUTTI_COMMAND_PATH, "run"});
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    execv(pointers[0], pointers.data());
    _exit(99);
  }
  close(ends[1]);
  Signalled result;
  char byte;
  while (std::count(result.output.begin(), result.output.end(), '\n') < ready &&
         read(ends[0], &byte, 1) == 1) {
    result.output.push_back(byte);
  }
  kill(pid, signal);
  while (read(ends[0], &byte, 1) == 1) result.output.push_back(byte);
  waitpid(pid, &result.status, 0);
  close(ends[0]);
  return result;
}

TEST(Run, PassesSignalsOnToAllRanks) {
  const Signalled result =
      run_and_signal({"-n", "2", "sh", "-c",
                      "trap 'echo got it; exit 0' USR1; echo ready; while :; do sleep 0.05; done"},
                     2, SIGUSR1);
  EXPECT_EQ(sorted_lines(result.output), (Lines{"got it", "got it", "ready", "ready"}));
  EXPECT_EQ(result.status, 0);
}

TEST(Run, EndsWithItsRanksWhenItIsTerminated) {
  const Signalled result = run_and_signal(
      {"-n", "2", "sh", "-c", "echo ready; while :; do sleep 0.05; done"}, 2, SIGTERM);
  ASSERT_TRUE(WIFEXITED(result.status));
  EXPECT_EQ(WEXITSTATUS(result.status), 128 + SIGTERM);
}

TEST(Run, ItsRanksDieWithItEvenWhenItIsKilled) {
  // Reading to the end of the output, which the ranks hold open, ends only when they have.
  const Signalled result = run_and_signal(
      {"-n", "2", "sh", "-c", "echo ready; while :; do sleep 0.05; done"}, 2, SIGKILL);
  ASSERT_TRUE(WIFSIGNALED(result.status));
  EXPECT_EQ(WTERMSIG(result.status), SIGKILL);
}

}  // namespace
}  // namespace tutti
