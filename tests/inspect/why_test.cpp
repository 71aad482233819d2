// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Jobs that are stuck, looked at from outside, as a user would.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "inspect/stuck_job.hpp"

namespace {

using Json = nlohmann::json;
using tutti_test::CommandResult;
using tutti_test::run_tutti;
using tutti_test::StuckJob;
using tutti_test::verdict_of;
using tutti_test::why;

void expect_verdict(const StuckJob& job, const std::string& outcome, const std::string& text) {
  const std::string verdict = verdict_of(why(job, outcome, text));
  EXPECT_NE(verdict.find(text), std::string::npos) << verdict;
}

// What a command prints once that has these words.
std::string until_said(const std::string& command, std::string_view words) {
  std::string said;
  tutti_test::eventually([&] {
    said = run_tutti(command).output;
    return said.find(words) != std::string::npos;
  });
  return said;
}

TEST(Why, NamesARankThatIsStoppedAndHowToLetItGoOn) {
  const StuckJob job(3, "stops");
  const Json told = tutti_test::why_once(job, [](const Json& now) {
    return now["verdict"]["outcome"] == "hung" && tutti_test::waits(now, 0);
  });
  EXPECT_NE(verdict_of(told).find("rank 2 (pid "), std::string::npos) << told;
  EXPECT_NE(verdict_of(told).find("has not entered allreduce #5 (2 float32, max) of \"world\""),
            std::string::npos)
      << told;
  EXPECT_NE(verdict_of(told).find("is stopped (state T)"), std::string::npos) << told;
  const auto pid = told["communicators"][0]["ranks"][2]["pid"].get<int>();
  EXPECT_EQ(told["verdict"]["advice"], "kill -CONT " + std::to_string(pid));
  EXPECT_EQ(told["communicators"][0]["ranks"][0]["waits"][0]["for_ranks"], Json({2}));
}

TEST(Why, CallsASplitASplit) {
  const StuckJob job(3, "splits");
  const Json told = why(job, "hung");
  EXPECT_NE(verdict_of(told).find("has not entered split #5 of \"world\"; "), std::string::npos)
      << told;
}

TEST(Why, BlamesTheRankThatTheOthersAreFarAheadOf) {
  const StuckJob job(3, "ahead");
  expect_verdict(job, "waits", "rank 2 (pid ");
  expect_verdict(job, "waits", "has not entered gather #");
}

TEST(Why, SaysForWhichHalfOfASendrecvARankWaits) {
  const StuckJob job(2, "half-received");
  expect_verdict(job, "waits", "has sent nothing that recv (4 float32 from rank 1, tag 2)");
}

TEST(Why, NamesAMessageThatHasComeWithAnotherTag) {
  const StuckJob job(2, "meant-otherwise", "TUTTI_WARN_AFTER_MS=300");
  const std::string message =
      "; a message has come that no receive takes (1 float32 from rank 1, tag 8)";
  expect_verdict(job, "waits", "has sent nothing that recv (1 float32 from rank 1, tag 7)");
  expect_verdict(job, "waits", message);
  const std::string told = job.output_until("look closer");
  EXPECT_NE(told.find("has sent nothing that it takes" + message), std::string::npos) << told;
}

TEST(Why, KnowsARankThatRunsAnotherProgram) {
  const StuckJob job(2, "replaced");
  expect_verdict(job, "hung", "\"world\" is broken: rank 1 (pid ");
  expect_verdict(job, "hung", "runs another program now");
}

TEST(Why, SeesThatRanksWaitInAShrink) {
  const StuckJob job(3, "shrinks", "TUTTI_WARN_AFTER_MS=300");
  expect_verdict(job, "waits", "ranks by shrink of \"world\"; its last call was broadcast #4");
  const std::string warning = job.output_until("neither goes on nor ends; it ");
  EXPECT_NE(warning.find("in shrink: rank 2 (pid "), std::string::npos) << warning;
}

TEST(Why, CountsTheCallsThatAFailedCommunicatorRefuses) {
  const StuckJob job(4, "differs");
  const Json told = tutti_test::why_once(job, [](const Json& now) {
    return !now["findings"].empty() && now["findings"][0]["ranks"] == Json({3});
  });
  EXPECT_EQ(told["findings"][0]["cause"], "mismatch") << told;
  EXPECT_EQ(told["findings"][0]["ranks"], Json({3})) << told;
}

TEST(Why, CountsNoCallsByWhichRanksAnswerAFailure) {
  const StuckJob job(4, "cleans-up");
  const Json told = tutti_test::why_once(job, [](const Json& now) {
    return !now["findings"].empty() && now["findings"][0]["cause"] == "mismatch";
  });
  EXPECT_EQ(told["findings"][0]["ranks"], Json({0, 3})) << told;
}

TEST(Why, SaysThatAVariableDemandsASlowAlgorithm) {
  const StuckJob job(3, "long-calls", "CCL_ALLREDUCE=tree");
  const std::string said =
      until_said("why --slow --job " + job.name(), "CCL_ALLREDUCE demands tree");
  EXPECT_NE(said.find("within allreduce of 65536 float32 of \"world\", and CCL_ALLREDUCE demands "
                      "tree for it, which is expected to take "),
            std::string::npos)
      << said;
}

TEST(Why, TellsASleepingRankFromOneThatComputes) {
  const StuckJob sleeps(2, "sleeps");
  expect_verdict(sleeps, "waits", "is sleeping");
  const StuckJob computes(2, "computes");
  expect_verdict(computes, "waits", "computes");
}

TEST(Why, SeesStartedCallsThatAreWaitedFor) {
  const StuckJob job(2, "started");
  expect_verdict(job, "waits", "has not entered allreduce #5 (1 float32, sum)");
}

TEST(Why, SeesForWhatADestructionWaits) {
  const StuckJob job(2, "destroys");
  expect_verdict(job, "waits", "has sent nothing that recv (1 float32 from rank 1, tag 7)");
}

TEST(Why, SeesThatAUsersReductionDoesNotReturn) {
  const StuckJob job(2, "reduces", "TUTTI_WARN_AFTER_MS=300");
  expect_verdict(job, "waits",
                 "has not returned from the user's function of allreduce #5 (1 float32, user) of "
                 "\"world\"; it is sleeping");
}

TEST(Why, FindsRanksThatWaitForOneAnother) {
  for (const char* scenario : {"crossed", "both-receive", "other-tag"}) {
    const StuckJob job(2, scenario);
    SCOPED_TRACE(scenario);
    expect_verdict(job, "hung", "ranks wait for one another");
  }
}

TEST(Why, SeesThatAGroupIsStuckBesideAnIdleOne) {
  const StuckJob job(4, "in-group");
  const Json told = why(job, "waits", "of \"half\"");
  EXPECT_NE(verdict_of(told).find("rank 1 (global rank 3"), std::string::npos) << told;
  EXPECT_NE(verdict_of(told).find("of \"half\""), std::string::npos) << told;
}

TEST(Why, TellsAJobThatGoesOnFromAnIdleOne) {
  const StuckJob on(2, "goes-on");
  EXPECT_EQ(why(on, "goes on")["verdict"]["status"], 0);
  const StuckJob idle(2, "idle");
  EXPECT_EQ(why(idle, "idle")["verdict"]["status"], 0);
}

TEST(Why, FindsAJobByAnyOfItsProcesses) {
  const StuckJob job(2, "stops");
  const Json told = why(job, "hung");
  for (const Json& rank : told["communicators"][0]["ranks"]) {
    const CommandResult result = run_tutti("why " + std::to_string(rank["pid"].get<int>()));
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_TRUE(result.output.starts_with("hung: rank 1 (pid ")) << result.output;
  }
}

TEST(Why, SaysThatThereIsNothingToSee) {
  const CommandResult none = run_tutti("why --job no-such-job 2>&1");
  EXPECT_EQ(none.exit_status, 3);
  EXPECT_NE(none.output.find("no-such-job"), std::string::npos) << none.output;
  const CommandResult none_here = run_tutti("why " + std::to_string(getpid()) + " 2>&1");
  EXPECT_EQ(none_here.exit_status, 3);
  EXPECT_NE(none_here.output.find("has no communicator"), std::string::npos) << none_here.output;
  const CommandResult nobody = run_tutti("why 2147483647 2>&1");
  EXPECT_EQ(nobody.exit_status, 3);
  EXPECT_NE(nobody.output.find("no process 2147483647"), std::string::npos) << nobody.output;
}

TEST(Why, SaysWhoseTheProcessIsThatItMayNotLookAt) {
  struct stat first {};
  if (geteuid() == 0 || stat("/proc/1", &first) != 0 || first.st_uid == geteuid()) {
    GTEST_SKIP() << "there is no process that this user may not look at";
  }
  const CommandResult refused = run_tutti("why 1 2>&1");
  EXPECT_EQ(refused.exit_status, 3);
  EXPECT_NE(refused.output.find("another user's"), std::string::npos) << refused.output;
}

// ---- top and trace -----------------------------------------------------------------------------

TEST(Top, CountsTheCallsOfEachRank) {
  const StuckJob job(2, "goes-on");
  const CommandResult result = run_tutti("top --once --json --interval 0.3 --job " + job.name());
  EXPECT_EQ(result.exit_status, 0);
  const Json told = Json::parse(result.output, nullptr, false);
  ASSERT_TRUE(told.is_object()) << result.output;
  const Json& ranks = told["communicators"][0]["ranks"];
  ASSERT_EQ(ranks.size(), 2u);
  for (const Json& rank : ranks) EXPECT_GT(rank["calls_per_s"].get<double>(), 1) << told;
  const CommandResult table = run_tutti("top --once --interval 0.1 --job " + job.name());
  EXPECT_NE(table.output.find("\"world\" on "), std::string::npos) << table.output;
  EXPECT_EQ(run_tutti("top --once --interval 0.1 --job no-such-job 2>&1").exit_status, 3);
}

TEST(Top, SaysWhyARankIsLate) {
  const StuckJob job(2, "late");
  Json ranks;
  tutti_test::eventually([&] {
    const CommandResult result = run_tutti("top --once --json --interval 0.5 --job " + job.name());
    const Json told = Json::parse(result.output, nullptr, false);
    if (!told.is_object()) return false;
    ranks = told["communicators"][0]["ranks"];
    return ranks[1]["cause"] == "sleeps";
  });
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks[1]["cause"], "sleeps") << ranks;
  EXPECT_GT(ranks[1]["late"].get<double>(), 0.05) << ranks;
  EXPECT_EQ(ranks[1]["because"], "it sleeps for a time") << ranks;
  EXPECT_TRUE(ranks[0]["cause"].is_null()) << ranks;
}

TEST(Top, SaysWhatCostsAllRanksMuch) {
  const StuckJob job(3, "long-calls", "CCL_ALLREDUCE=tree");
  const std::string table =
      until_said("top --once --interval 0.5 --job " + job.name(), "CCL_ALLREDUCE demands tree");
  EXPECT_NE(table.find("\n  slow: the ranks spend "), std::string::npos) << table;
}

TEST(Top, SaysThatWhatItPrintsCannotBeWritten) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
  const StuckJob job(2, "idle");
  const CommandResult full =
      run_tutti("top --once --interval 0.1 --job " + job.name() + " 2>&1 >/dev/full");
  EXPECT_NE(full.exit_status, 0);
  EXPECT_NE(full.output.find("No space left"), std::string::npos) << full.output;
}

TEST(Top, WritesMetricsForPrometheus) {
  const StuckJob job(2, "sleeps");
  (void)why(job, "waits", "has not entered");
  const std::string file = "/tmp/tutti-metrics-" + std::to_string(getpid());
  EXPECT_EQ(run_tutti("top --once --interval 0.1 --prometheus " + file + " --job " + job.name())
                .exit_status,
            0);
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  unlink(file.c_str());
  for (const char* part :
       {"# HELP tutti_calls_total ", "# TYPE tutti_calls_total counter\n", "communicator=\"world\"",
        "rank=\"1\"", "# TYPE tutti_waits_seconds gauge"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  for (const char* where : {"1.2.3.4.5:1", "127.0.0.1:99999"}) {
    EXPECT_NE(run_tutti(std::string("top --prometheus ") + where + " 2>&1").exit_status, 0)
        << where;
  }
}

int connection_to(const sockaddr_in& address) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return socket;
  }
  close(socket);
  return -1;
}

// A port of the loopback where nobody listens.
sockaddr_in free_address() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length), 0);
  close(socket);
  return address;
}

std::string all_from(int socket) {
  std::string text;
  char part[4096];
  for (ssize_t count = 1; count > 0;) {
    count = read(socket, part, sizeof part);
    if (count > 0) text.append(part, static_cast<size_t>(count));
  }
  close(socket);
  return text;
}

TEST(Top, MeasuresOnceForAllWhoAskTogether) {
  const StuckJob job(2, "goes-on");
  const sockaddr_in address = free_address();
  const std::string port = std::to_string(ntohs(address.sin_port));
  const pid_t server = fork();
  if (server == 0) {
    execl(TUTTI_COMMAND_PATH, "tutti", "top", "--job", job.name().c_str(), "--prometheus",
          port.c_str(), nullptr);
    _exit(127);
  }
  std::vector<int> clients;
  tutti_test::eventually([&] {
    const int client = connection_to(address);
    if (client >= 0) clients.push_back(client);
    return clients.size() == 4;
  });
  const std::string request = "GET /metrics HTTP/1.1\r\n\r\n";
  for (const int client : clients) {
    EXPECT_EQ(write(client, request.data(), request.size()), static_cast<ssize_t>(request.size()));
  }
  std::set<std::string> pages;
  for (const int client : clients) pages.insert(all_from(client));
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  ASSERT_EQ(clients.size(), 4u);
  EXPECT_LT(pages.size(), 4u);
  for (const std::string& page : pages) {
    EXPECT_NE(page.find("tutti_calls_total{"), std::string::npos) << page;
  }
}

TEST(Trace, HasTheLastCallsOfEveryRank) {
  const StuckJob job(3, "sleeps");
  (void)why(job, "waits", "has not entered");
  const CommandResult result = run_tutti("trace --job " + job.name());
  EXPECT_EQ(result.exit_status, 0);
  const Json trace = Json::parse(result.output, nullptr, false);
  ASSERT_TRUE(trace.is_object()) << result.output;
  std::map<int, std::vector<std::string>> calls;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") calls[event["args"]["rank"]].push_back(event["name"]);
  }
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].back(), "allreduce #5 (2 float32, max)");
  EXPECT_EQ(calls[2].back(), "broadcast #4 (4 float32, root 0)");
  EXPECT_EQ(run_tutti("trace --job no-such-job 2>&1").exit_status, 3);
}

TEST(Trace, IsLeftBehindByRanksThatFail) {
  const std::string path = "/tmp/tutti-trace-" + std::to_string(getpid());
  const StuckJob job(2, "sleeps", "TUTTI_TIMEOUT_MS=300 TUTTI_TRACE=" + path);
  const std::string text = job.output_until("rank 1 (pid ");
  EXPECT_NE(text.find("warn: \"world\" has failed: rank 0 waited 300 ms in allreduce #5"),
            std::string::npos)
      << text;
  const std::string last = text + job.output_until("broadcast #4 (4 float32, root 0)");
  EXPECT_NE(last.find("allreduce #3 (2 float32, max), broadcast #4"), std::string::npos) << last;
  Json trace;
  tutti_test::eventually([&] {
    std::ifstream stream(path + ".0");
    trace = Json::parse(stream, nullptr, false);
    return trace.is_object();
  });
  unlink((path + ".0").c_str());
  EXPECT_TRUE(trace.is_object());
}

// Launchers end such a job by a signal.
TEST(Trace, IsLeftBehindByRanksThatHang) {
  const std::string path = "/tmp/tutti-trace-" + std::to_string(getpid());
  const StuckJob job(2, "sleeps", "TUTTI_TRACE=" + path);
  for (const char* end : {".0", ".1"}) {
    Json trace;
    tutti_test::eventually([&] {
      std::ifstream stream(path + end);
      trace = Json::parse(stream, nullptr, false);
      return trace.is_object() && trace.dump().find("broadcast #4") != std::string::npos;
    });
    unlink((path + end).c_str());
    ASSERT_TRUE(trace.is_object()) << end;
    EXPECT_NE(trace.dump().find("broadcast #4 (4 float32, root 0)"), std::string::npos) << trace;
  }
}

TEST(Trace, SaysWhatItHasWritten) {
  const StuckJob job(2, "idle");
  const std::string path = "/tmp/tutti-trace-" + std::to_string(getpid()) + ".json";
  const CommandResult result = run_tutti("trace --job " + job.name() + " -o " + path);
  unlink(path.c_str());
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.output, path +
                               ": the last 8 calls of 2 ranks in 1 communicator; open it with "
                               "https://ui.perfetto.dev or chrome://tracing\n");
}

TEST(Trace, TellsOfTheStepsWithinCallsIfAskedTo) {
  const std::string path = "/tmp/tutti-steps-" + std::to_string(getpid());
  const StuckJob job(2, "ends", "TUTTI_TRACE_LEVEL=steps TUTTI_TRACE=" + path);
  Json trace;
  tutti_test::eventually([&] {
    std::ifstream stream(path + ".0");
    trace = Json::parse(stream, nullptr, false);
    return trace.is_object();
  });
  for (const char* rank : {".0", ".1"}) unlink((path + rank).c_str());
  ASSERT_TRUE(trace.is_object());
  std::map<int, std::vector<std::string>> steps;  // by call
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || event["cat"] != "tutti.step") continue;
    steps[event["args"]["sequence"]].push_back(event["name"]);
  }
  ASSERT_TRUE(steps.contains(3)) << trace;  // an allreduce, which each rank awaits the other in
  const auto awaits = [](const std::string& name) { return name.starts_with("await "); };
  EXPECT_TRUE(std::ranges::any_of(steps[3], awaits)) << trace;
}

// ---- the log -----------------------------------------------------------------------------------

TEST(Log, TellsAtLevelInfoOfTheJobAndItsAlgorithmsOnce) {
  const StuckJob job(2, "goes-on", "CCL_LOG_LEVEL=info");
  const std::string text = job.said();
  EXPECT_NE(text.find("info: world: Tutti "), std::string::npos) << text;
  EXPECT_NE(text.find(", 2 ranks on 1 host, transport shm"), std::string::npos) << text;
  const size_t first = text.find("info: world: allreduce of 8 B (float32) on 2 ranks: ");
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("info: world: allreduce of 8 B", first + 1), std::string::npos) << text;
}

TEST(Log, TellsAtLevelDebugWhyAnAlgorithmWasChosen) {
  const StuckJob job(2, "goes-on", "CCL_LOG_LEVEL=debug");
  EXPECT_NE(job.said().find("on 2 ranks: inline by cost model; "), std::string::npos) << job.said();
}

TEST(Warning, NamesWhoIsLateOnceForTheHost) {
  const StuckJob job(4, "stops", "TUTTI_WARN_AFTER_MS=300");
  const std::string text = job.output_until("has waited");
  EXPECT_NE(text.find("\"world\": rank 0 has waited"), std::string::npos) << text;
  EXPECT_NE(text.find("in allreduce #5 (2 float32, max): rank 3 (pid "), std::string::npos) << text;
  EXPECT_NE(text.find("its last was broadcast #4 (4 float32, root 0)"), std::string::npos) << text;
  EXPECT_NE(text.find("it is stopped (state T)"), std::string::npos) << text;
  const std::string more = text + job.output_until("has waited");
  EXPECT_EQ(more.find("rank 1 has waited"), std::string::npos) << more;
  EXPECT_EQ(more.find("rank 2 has waited"), std::string::npos) << more;
}

TEST(Warning, NamesARankThatDoesNotArriveAtTheMeeting) {
  const StuckJob job(3, "never-arrives", "TUTTI_WARN_AFTER_MS=300");
  const std::string text = job.output_until("did not arrive yet");
  EXPECT_NE(text.find("warn: a communicator is being made: rank 0 has waited"), std::string::npos)
      << text;
  EXPECT_NE(text.find("ranks 1, 2 of 3 did not arrive yet"), std::string::npos) << text;
}

TEST(Warning, NamesTheMessageThatDoesNotCome) {
  const StuckJob job(2, "both-receive", "TUTTI_WARN_AFTER_MS=300");
  const std::string text = job.output_until("has waited");
  EXPECT_NE(text.find("in recv (1 float32 from rank 1, tag 7)"), std::string::npos) << text;
}

}  // namespace
