// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How a communicator is made: its parts one after the other, then it watches its peers.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "comm/announce.hpp"
#include "comm/communicator.hpp"
#include "comm/measure_network.hpp"
#include "comm/settings.hpp"
#include "core/caught.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "select/limits.hpp"

namespace tutti {
namespace {

std::string describe(const FoundTuning& tuning) {
  const Machine& machine = tuning.tuning.machine;
  return fmt::format(
      "algorithms by {}: pulls take {:.2f} us and {:.0f} ps per byte, copies {:.0f} ps per byte "
      "beyond {} KiB",
      tuning.path.empty() ? "the defaults" : "tuning file " + tuning.path, machine.pull_s * 1e6,
      machine.pull_cached_s * 1e12, machine.copy_memory_s * 1e12, machine.cache_bytes >> 10);
}

Result<OwnSettings> view_of_rank(Runtime& runtime, const CommunicatorConfig& config,
                                 const Exchange& exchange, std::optional<NetworkFigures> known) {
  Result<OwnSettings> own = own_settings(runtime.environment(), exchange.rank(), exchange.ranks());
  if (!own.ok()) return own;
  own->variables.strict = config.strict;
  own->tuner = config.tuner;
  if (exchange.rank() == 0) own->tuning = runtime.tuning();
  own->network = std::move(known);
  return own;
}

class Maker {
 public:
  Maker(std::shared_ptr<Runtime> runtime, Exchange& exchange, const CommunicatorConfig& config)
      : environment_(runtime->environment()), exchange_(exchange) {
    parts_.runtime = std::move(runtime);
    parts_.rank = exchange.rank();
    parts_.ranks = exchange.ranks();
    parts_.config = config;
  }
  Status make(std::optional<NetworkFigures> known) {
    TUTTI_RETURN_IF_ERROR(agree(std::move(known)));
    TUTTI_RETURN_IF_ERROR(connect());
    make_health();
    TUTTI_ASSIGN_OR_RETURN(endpoint_, transport().open_endpoint(inputs_.lanes()));
    TUTTI_RETURN_IF_ERROR(learn_network());
    return make_executor();
  }
  // Hands over what make() has made.
  CommunicatorParts take() { return std::move(parts_); }

 private:
  // All that plans are made of comes from what the ranks agree on here, to which the connection
  // adds what they find out together.
  Status agree(std::optional<NetworkFigures> known) {
    Runtime& runtime = *parts_.runtime;
    runtime.introduce(parts_.rank, parts_.ranks);
    TUTTI_ASSIGN_OR_RETURN(const OwnSettings own,
                           view_of_rank(runtime, parts_.config, exchange_, std::move(known)));
    TUTTI_ASSIGN_OR_RETURN(Agreement agreed, tutti::agree(exchange_, own));
    parts_.key = agreed.key;
    inputs_ = std::move(agreed.inputs);
    TUTTI_ASSIGN_OR_RETURN(workers_,
                           runtime.workers(inputs_.hosts.place(parts_.rank), inputs_.local_ranks));
    if (parts_.rank == 0) log::info("{}: {}", parts_.config.name, describe(inputs_.tuning));
    parts_.device_figures = slowest_figures(inputs_.tuning.tuning.devices, Of::kWithIpc);
    return {};
  }

  TransportConfig transport_config() {
    const int64_t limit = parts_.config.init_timeout_ms;
    deadline_ms_ = limit == kNever ? kNever : now_ms() + limit;
    return {.lanes = inputs_.lanes(),
            .channels = inputs_.lanes() + 1,
            .deadline_ms = deadline_ms_,
            .label = parts_.config.name,
            .job = environment_.job,
            .key = parts_.key,
            .inquiries = inputs_.hosts.count() > 1 ? parts_.runtime->inquiries().open() : 0,
            .all_ranks = parts_.ranks,
            .global_ranks = parts_.config.global_ranks,
            .shared = {.sizes = {.slots = inputs_.slots,
                                 .window_bytes = inputs_.variables.window_bytes},
                       .pulls = pulls_for(inputs_.variables),
                       .store_target = environment_.staging,
                       .oversubscribed = inputs_.oversubscribed()},
            .network = {.provider = environment_.ofi_provider,
                        .interfaces = environment_.net_interfaces,
                        .limits_providers = !environment_.fi_provider.empty(),
                        .encrypt = environment_.net_encrypt,
                        .nics = nics_of(environment_)}};
  }

  Status connect() {
    Result<Connection> connection =
        tutti::connect(exchange_, inputs_.hosts, environment_, transport_config());
    if (inputs_.hosts.count() == 1 && connection.status().code() == Code::kUnsupported) {
      log::message(parts_.rank == 0 ? LogLevel::kWarn : LogLevel::kInfo,
                   "{}: no shared memory among the ranks of this host, messages go over the "
                   "network: {}",
                   parts_.config.name, connection.status().message());
      inputs_.hosts = Hosts::apart(parts_.ranks);
      connection = tutti::connect(exchange_, inputs_.hosts, environment_, transport_config());
    }
    if (!connection.ok()) return connection.status();
    parts_.connection = std::make_unique<Connection>(*std::move(connection));
    const JoinedTransport* const joined = parts_.connection->joined;
    if (joined != nullptr) inputs_.hosts = joined->hosts();
    SharedMemory& memory = *parts_.connection->within().shared_memory();
    inputs_.pulls = memory.can_pull();
    inputs_.maps_peers = memory.can_map_peers();
    if (parts_.rank == 0) announce(parts_.config.name, parts_.ranks, *parts_.connection);
    return {};
  }

  void make_health() {
    const CommunicatorConfig& config = parts_.config;
    const int rank = parts_.rank;
    const std::vector<int>& numbers = config.global_ranks;
    parts_.job_rank = numbers.empty() ? rank : numbers[static_cast<size_t>(rank)];
    parts_.report = std::make_unique<Report>(transport(), parts_.runtime->trace(), rank,
                                             parts_.job_rank, config.name);
    parts_.health = std::make_unique<Health>(rank, transport());
    parts_.peers = std::make_unique<Peers>(
        *parts_.runtime, *parts_.connection, *parts_.health, rank, parts_.ranks,
        numbers.empty() ? "" : name_of_group(config.name, numbers));
    Report& report = *parts_.report;
    const auto quietly = [&peers = *parts_.peers](bool heard) {
      return heard && !peers.speak_here();
    };
    parts_.health->report_by(
        [=, &report](const Status& cause, bool heard) { report.say(cause, quietly(heard)); },
        [=, &report](const Status& cause, bool heard) { report.more(cause, quietly(heard)); });
  }

  // The figures come from the first of these that has some: a tuning file, what rank 0 knows
  // already, a measurement now. It uses the endpoint of the users' messages, which nobody uses yet.
  // Else the defaults count.
  Status learn_network() {
    if (parts_.connection->joined == nullptr) {
      inputs_.network.reset();
      return {};
    }
    std::optional<NetworkFigures>& network = inputs_.network;
    const int64_t begun = now_ms();
    if (inputs_.tuning.tuning.network) {
      network = inputs_.tuning.tuning.network;
      network->origin = "tuning file " + inputs_.tuning.path;
    } else if (!network && inputs_.variables.measure_network) {
      const SpinBudget polls = polling(spin_budget_for(inputs_.local_ranks, inputs_.cores));
      // Half of the time that is left: the rest is there to tell how it went.
      const Waiter waiter{
          .bell = transport().bell(parts_.rank),
          .sleepers = transport().sleepers(),
          .budget = &polls,
          .deadline_ms = deadline_ms_ == kNever ? kNever : begun + (deadline_ms_ - begun) / 2,
          .polls = true};
      TUTTI_ASSIGN_OR_RETURN(network,
                             measure_network(exchange_, inputs_.hosts, *endpoint_, waiter));
    } else if (!network) {
      network.emplace();
    }
    if (parts_.rank == 0) {
      log::info("{}: network: {}, known after {} ms", parts_.config.name, to_string(*network),
                now_ms() - begun);
    }
    parts_.network = network;
    return {};
  }

  Status make_executor() {
    TUTTI_ASSIGN_OR_RETURN(parts_.lanes,
                           Lanes::create(*parts_.connection, parts_.rank, parts_.ranks, inputs_,
                                         environment_.staging, parts_.config.name));
    if (environment_.spread && inputs_.oversubscribed()) spread_over(inputs_.cores);
    parts_.executor =
        std::make_unique<Executor>(executor_settings(), traced(parts_.lanes->take()),
                                   parts_.lanes->choose(), transport(), *parts_.health, *workers_);
    parts_.executor->set_timeout(parts_.config.timeout_ms);
    parts_.messages = std::make_unique<Messages>(std::move(endpoint_), *parts_.executor);
    return {};
  }

  [[nodiscard]] ExecutorSettings executor_settings() const {
    ExecutorSettings settings;
    settings.context = parts_.lanes->context();
    settings.polls = settings.context.hosts != nullptr;
    settings.tell = [&peers = *parts_.peers](int rank, const JournalMessage& message) {
      peers.control()->tell(rank, bytes_of(message));
    };
    const int threads = inputs_.local_ranks * (1 + workers_->size());
    settings.caller_budget = budget_for(inputs_.local_ranks, settings.polls);
    settings.worker_budget = budget_for(threads, settings.polls);
    settings.wait_report = {.rank = parts_.rank,
                            .ranks = parts_.ranks,
                            .transport = &transport(),
                            .hosts = settings.context.hosts,
                            .warn_after_ms = environment_.warn_after_ms,
                            .communicator = parts_.config.name};
    return settings;
  }

  // The budget of a wait where so many threads of this host wait on its cores.
  [[nodiscard]] SpinBudget budget_for(int threads, bool polls) const {
    SpinBudget budget = spin_budget_for(threads, inputs_.cores);
    budget.sleeps_if_oversubscribed = !polls;
    if (polls) budget = polling(budget);
    if (environment_.spin_count >= 0) budget.spins = static_cast<uint32_t>(environment_.spin_count);
    budget.hook = parts_.spread.get();
    return budget;
  }

  // Has the lanes trace their steps, if a variable asks for it.
  [[nodiscard]] std::vector<std::unique_ptr<LaneGroup>> traced(
      std::vector<std::unique_ptr<LaneGroup>> lanes) {
    if (!parts_.runtime->trace().wanted() || environment_.trace_level != TraceLevel::kSteps) {
      return lanes;
    }
    for (const auto& group : lanes) {
      auto steps = std::make_shared<StepTrace>();
      parts_.report->add(steps);
      group->trace_steps_to(std::move(steps));
    }
    return lanes;
  }

  // The ranks of this host, which share so many cores.
  void spread_over(int cores) {
    std::vector<const Bell*> bells;
    for (int rank = 0; rank < parts_.ranks; ++rank) {
      if (parts_.peers->is_here(rank)) bells.push_back(transport().bell(rank));
    }
    // Without shared memory they do not see one another's.
    if (std::ranges::find(bells, nullptr) != bells.end()) return;
    parts_.spread = std::make_unique<Spread>(*transport().bell(parts_.rank), std::move(bells),
                                             *transport().sleepers(), cores);
  }

  [[nodiscard]] Transport& transport() const { return *parts_.connection->transport; }

  const Environment& environment_;
  Exchange& exchange_;
  CommunicatorParts parts_;
  PlanInputs inputs_;
  int64_t deadline_ms_ = kNever;  // deadline of what the ranks do together to connect
  WorkerPool* workers_ = nullptr;
  std::unique_ptr<Endpoint> endpoint_;  // of messages
};

}  // namespace

Result<std::unique_ptr<Communicator>> Communicator::create(std::shared_ptr<Runtime> runtime,
                                                           Exchange& exchange,
                                                           const CommunicatorConfig& config,
                                                           std::optional<NetworkFigures> known) {
  const EndsWaits scope([&] { return exchange.failure(); },
                        [&] {
                          (void)exchange.fail({Code::kAborted, "it was interrupted"});
                        });
  // The parts stay until the others know of a failure: they would see connections break before.
  Maker maker(std::move(runtime), exchange, config);
  std::unique_ptr<Communicator> made;
  const auto make = [&]() -> Status {
    TUTTI_RETURN_IF_ERROR(maker.make(std::move(known)));
    made.reset(new Communicator(maker.take()));
    const CommunicatorParts& own = made->parts_;
    TUTTI_RETURN_IF_ERROR(own.peers->watch(exchange, own.key, *own.executor, *own.report));
    if (own.job_rank == 0) own.runtime->watch_job();
    return {};
  };
  Status status;
  try {
    status = make();
  } catch (...) {
    status = caught_exception();
  }
  if (status.ok()) return made;
  return exchange.fail(status).with_context(making(config, exchange.rank(), exchange.ranks()));
}

}  // namespace tutti
