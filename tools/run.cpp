// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti run: runs a program as the ranks of a job on this host.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "core/affinity.hpp"
#include "core/fd.hpp"
#include "core/socket.hpp"
#include "core/topology.hpp"
#include "env/env.hpp"
#include "tools/run_job.hpp"

namespace {

struct Arguments {
  tutti::run::JobOptions job;
  std::string bind = "none";
  std::vector<std::string> exports;
};

// A TCP port that nobody uses now, for programs that meet at MASTER_PORT. 0 if there is none.
int free_port() {
  const tutti::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(socket.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return 0;
  }
  return ntohs(address.sin_port);
}

// The user's name for the job. A process that is a rank itself has its own job's name in the
// environment; the job that it starts needs another.
std::string job_name() {
  const auto variable = tutti::process_environment();
  const auto given = variable("TUTTI_JOB");
  if (given && !given->empty() && !variable("RANK")) return *given;
  const auto key = tutti::random_128();
  if (!key.ok()) throw CLI::RuntimeError(std::string(key.status().message()), 1);
  return tutti::to_hex(*key);
}

// Variables that all ranks get; those that the user gives come last and win.
void add_environment(Arguments& arguments) {
  auto& environment = arguments.job.environment;
  environment.push_back("TUTTI_JOB=" + job_name());
  environment.push_back("MASTER_ADDR=127.0.0.1");
  environment.push_back(fmt::format("MASTER_PORT={}", free_port()));
  for (const std::string& variable : arguments.exports) {
    if (variable.find('=') == std::string::npos || variable.front() == '=') {
      throw CLI::ValidationError("-x", fmt::format("\"{}\": expected VAR=VALUE", variable));
    }
    environment.push_back(variable);
  }
}

void add_cores(Arguments& arguments) {
  if (arguments.bind == "none") return;
  const std::vector<int> usable = tutti::usable_cores();
  if (static_cast<int>(usable.size()) < arguments.job.ranks) {
    throw CLI::ValidationError(
        "--bind-to", fmt::format("core: {} ranks need as many cores, this process may use {} ({})",
                                 arguments.job.ranks, usable.size(), tutti::format_cores(usable)));
  }
  arguments.job.cores = usable;
}

// Everything from the first word that is none of our options.
void add_program(const CLI::App& run, Arguments& arguments) {
  arguments.job.program = run.remaining();
  const auto& program = arguments.job.program;
  if (program.empty()) throw CLI::RequiredError("program");
  if (program.front().starts_with('-')) throw CLI::ExtrasError("run", {program.front()});
}

}  // namespace

void add_run(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* run = app.add_subcommand(
      "run", "Run a program as the ranks of a job on this host; ends all when one fails");
  run->add_option("-n,--ranks", arguments->job.ranks, "Number of processes")
      ->required()
      ->check(CLI::Range(1, 4096));
  run->add_flag("-l,--label", arguments->job.label, "Begin each line of output with its rank");
  run->add_option("--bind-to", arguments->bind, "Bind each rank to one core, or none")
      ->check(CLI::IsMember({"core", "none"}))
      ->capture_default_str();
  run->add_option("--timeout", arguments->job.timeout_s, "End the job after so many seconds")
      ->check(CLI::Range(1, 1 << 30));
  run->add_flag("--keep-going", arguments->job.keep_going,
                "Let the others go on when a rank fails (see tutti_comm_shrink)");
  run->add_option("-x", arguments->exports, "For all ranks; may be repeated")
      ->type_name("VAR=VALUE")
      ->allow_extra_args(false);
  run->footer(
      "The program and its arguments follow the options: tutti run -n 2 -l python3 train.py "
      "--fast\n\n"
      "Each rank gets RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT "
      "and\n"
      "TUTTI_JOB. Standard input goes to rank 0. Signals are passed on. The exit status is that "
      "of\n"
      "the first rank that failed: its own, or 128 + the signal that killed it; 124 at the "
      "timeout.\n"
      "With --keep-going it is 0 if any rank succeeded.");
  run->prefix_command();
  run->callback([run, arguments] {
    add_program(*run, *arguments);
    add_environment(*arguments);
    add_cores(*arguments);
    const int status = tutti::run::run_job(arguments->job);
    if (status != 0) throw CLI::RuntimeError(status);
  });
}
