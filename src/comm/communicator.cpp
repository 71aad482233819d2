// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How a communicator is made and destroyed.
#include "comm/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bootstrap/service.hpp"
#include "comm/announce.hpp"
#include "comm/settings.hpp"
#include "core/caught.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "select/limits.hpp"
#include "transports/names.hpp"

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

Result<OwnView> view_of_rank(Runtime& runtime, const CommunicatorConfig& config,
                             const Exchange& exchange, std::optional<NetworkFigures> known) {
  Result<OwnView> own = own_view(runtime.environment(), exchange.rank(), exchange.ranks());
  if (!own.ok()) return own;
  own->variables.strict = config.strict;
  own->tuner = config.tuner;
  if (exchange.rank() == 0) own->tuning = runtime.tuning();
  own->network = std::move(known);
  return own;
}

NicSet nics_of(const Environment& environment) {
  NicSet nics;
  switch (environment.mnic) {
    case Mnic::kNone: nics.which = NicSet::Which::kOne; break;
    case Mnic::kLocal: nics.which = NicSet::Which::kLocal; break;
    case Mnic::kGlobal: nics.which = NicSet::Which::kGlobal; break;
  }
  nics.names = environment.mnic_names;
  nics.most = static_cast<uint32_t>(environment.mnic_count);
  return nics;
}

}  // namespace

Result<tutti_unique_id> open_meeting() {
  TUTTI_RETURN_IF_ERROR(read_environment(process_environment()).status());
  TUTTI_ASSIGN_OR_RETURN(UniqueId id, make_unique_id());
  TUTTI_RETURN_IF_ERROR(start_service(id, kNever));
  return encode(id);
}

Communicator::Communicator(std::shared_ptr<Runtime> runtime, Exchange& exchange,
                           const CommunicatorConfig& config)
    : runtime_(std::move(runtime)),
      rank_(exchange.rank()),
      ranks_(exchange.ranks()),
      config_(config),
      left_(static_cast<size_t>(ranks_)) {}

Result<std::unique_ptr<Communicator>> Communicator::create(std::shared_ptr<Runtime> runtime,
                                                           Exchange& exchange,
                                                           const CommunicatorConfig& config,
                                                           std::optional<NetworkFigures> known) {
  std::unique_ptr<Communicator> made(new Communicator(std::move(runtime), exchange, config));
  const EndsWaits scope([&] { return exchange.failure(); },
                        [&] {
                          (void)exchange.fail({Code::kAborted, "it was interrupted"});
                        });
  Status status;
  try {
    status = made->connect(exchange, std::move(known));
  } catch (...) {
    status = caught_exception();
  }
  if (status.ok()) return made;
  return exchange.fail(status).with_context(making(config, made->rank_, made->ranks_));
}

std::string Communicator::making(const CommunicatorConfig& config, int rank, int ranks) {
  return fmt::format("making {} (rank {} of {})", name_of_group(config.name, config.global_ranks),
                     rank, ranks);
}

std::string Communicator::name() const { return name_of_group(config_.name, config_.global_ranks); }

TransportConfig Communicator::transport_config_of(const PlanInputs& inputs) const {
  const Environment& environment = runtime_->environment();
  const int64_t limit = config_.init_timeout_ms;
  return {
      .lanes = inputs.lanes(),
      .channels = inputs.lanes() + 1,
      .deadline_ms = limit == kNever ? kNever : now_ms() + limit,
      .label = config_.name,
      .job = environment.job,
      .key = key_,
      .inquiries = inputs.hosts.count() > 1 ? runtime_->inquiries().open() : 0,
      .all_ranks = ranks_,
      .global_ranks = config_.global_ranks,
      .shared = {.sizes = {.slots = inputs.slots, .window_bytes = inputs.variables.window_bytes},
                 .pulls = pulls_for(inputs.variables),
                 .staging = environment.staging,
                 .oversubscribed = inputs.oversubscribed()},
      .network = {.provider = environment.ofi_provider,
                  .interfaces = environment.net_interfaces,
                  .limits_providers = !environment.fi_provider.empty(),
                  .encrypt = environment.net_encrypt,
                  .nics = nics_of(environment)}};
}

// All that plans are made of comes from `agreed`, to which the connection adds what its ranks have
// found out together.
Status Communicator::connect(Exchange& exchange, std::optional<NetworkFigures> known) {
  const Environment& environment = runtime_->environment();
  runtime_->introduce(rank_, ranks_);
  TUTTI_ASSIGN_OR_RETURN(const OwnView own,
                         view_of_rank(*runtime_, config_, exchange, std::move(known)));
  TUTTI_ASSIGN_OR_RETURN(Agreement agreed, agree(exchange, own));
  key_ = agreed.key;
  PlanInputs& inputs = agreed.inputs;
  TUTTI_ASSIGN_OR_RETURN(auto* const workers,
                         runtime_->workers(inputs.hosts.place(rank_), inputs.local_ranks));
  if (rank_ == 0) log::info("{}: {}", config_.name, describe(inputs.tuning));
  device_figures_ = slowest_figures(inputs.tuning.tuning.devices, Of::kDirect);

  TransportConfig transport_config = transport_config_of(inputs);
  Result<Connection> connection =
      tutti::connect(exchange, inputs.hosts, environment, transport_config);
  if (inputs.hosts.count() == 1 && connection.status().code() == Code::kUnsupported) {
    log::message(rank_ == 0 ? LogLevel::kWarn : LogLevel::kInfo,
                 "{}: no shared memory among the ranks of this host, messages go over the "
                 "network: {}",
                 config_.name, connection.status().message());
    inputs.hosts = Hosts::apart(ranks_);
    transport_config = transport_config_of(inputs);
    connection = tutti::connect(exchange, inputs.hosts, environment, transport_config);
  }
  if (!connection.ok()) return connection.status();
  connection_ = *std::move(connection);
  if (connection_.joined != nullptr) inputs.hosts = connection_.joined->hosts();
  inputs.pulls = shared_memory().can_pull();
  inputs.maps_peers = shared_memory().can_map_peers();
  if (rank_ == 0) announce(config_.name, ranks_, connection_);
  health_ = std::make_unique<Health>(rank_, *connection_.transport);
  const int job_rank =
      config_.global_ranks.empty() ? rank_ : config_.global_ranks[static_cast<size_t>(rank_)];
  report_ = std::make_unique<Report>(*connection_.transport, runtime_->trace(), rank_, job_rank,
                                     config_.name);
  const auto quietly = [this](bool heard) { return heard && !speaks_for_all(); };
  health_->report_by(
      [=, this](const Status& cause, bool heard) { report_->say(cause, quietly(heard)); },
      [=, this](const Status& cause, bool heard) { report_->more(cause, quietly(heard)); });
  TUTTI_ASSIGN_OR_RETURN(messages_endpoint_, connection_.transport->open_endpoint(inputs.lanes()));
  TUTTI_RETURN_IF_ERROR(learn_network(exchange, inputs, transport_config.deadline_ms));
  network_ = inputs.network;
  TUTTI_RETURN_IF_ERROR(make_executor(*workers, inputs));
  TUTTI_RETURN_IF_ERROR(watch_peers(exchange));
  if (job_rank == 0) runtime_->watch_job();
  return {};
}

Status Communicator::make_executor(WorkerPool& workers, const PlanInputs& inputs) {
  const Environment& environment = runtime_->environment();
  TUTTI_ASSIGN_OR_RETURN(
      lanes_, Lanes::create(connection_, rank_, ranks_, inputs, environment.staging, config_.name));
  ExecutorSettings settings;
  settings.context = lanes_->context();
  settings.polls = settings.context.hosts != nullptr;
  settings.tell = [this](int rank, const CallNote& note) { control_->tell(rank, bytes_of(note)); };
  settings.caller_budget = spin_budget_for(inputs.local_ranks, inputs.cores);
  settings.worker_budget = spin_budget_for(inputs.local_ranks * (1 + workers.size()), inputs.cores);
  settings.caller_budget.sleeps_if_oversubscribed = !settings.polls;
  settings.worker_budget.sleeps_if_oversubscribed = !settings.polls;
  if (settings.polls) {
    settings.caller_budget = polling(settings.caller_budget);
    settings.worker_budget = polling(settings.worker_budget);
  }
  if (const int64_t spins = environment.spin_count; spins >= 0) {
    settings.caller_budget.spins = static_cast<uint32_t>(spins);
    settings.worker_budget.spins = static_cast<uint32_t>(spins);
  }
  if (environment.spread && inputs.oversubscribed()) spread_over(inputs.cores);
  wait_report_ = {.rank = rank_,
                  .ranks = ranks_,
                  .transport = connection_.transport.get(),
                  .hosts = settings.context.hosts,
                  .warn_after_ms = environment.warn_after_ms,
                  .communicator = config_.name};
  settings.wait_report = wait_report_;
  settings.caller_budget.hook = spread_.get();
  settings.worker_budget.hook = spread_.get();
  Transport& transport = *connection_.transport;
  executor_ = std::make_unique<Executor>(settings, traced(lanes_->take()), lanes_->choose(),
                                         transport, *health_, workers);
  executor_->set_timeout(config_.timeout_ms);
  messages_ = std::make_unique<Messages>(rank_, transport, std::move(messages_endpoint_), *health_,
                                         *executor_, workers, settings.caller_budget,
                                         settings.worker_budget, settings.wait_report);
  return {};
}

// Has the lanes trace their steps, if a variable asks for it.
std::vector<std::unique_ptr<LaneGroup>> Communicator::traced(
    std::vector<std::unique_ptr<LaneGroup>> lanes) {
  const bool wanted =
      runtime_->trace().wanted() && runtime_->environment().trace_level == TraceLevel::kSteps;
  for (const auto& group : lanes) {
    if (!wanted) break;
    auto steps = std::make_shared<StepTrace>();
    report_->add(steps);
    group->trace_steps_to(std::move(steps));
  }
  return lanes;
}

// The ranks of this host, which share so many cores.
void Communicator::spread_over(int cores) {
  Transport& transport = *connection_.transport;
  std::vector<const Bell*> bells;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (is_here(rank)) bells.push_back(transport.bell(rank));
  }
  // Without shared memory they do not see one another's.
  if (std::ranges::find(bells, nullptr) != bells.end()) return;
  spread_ = std::make_unique<Spread>(*transport.bell(rank_), std::move(bells),
                                     *transport.sleepers(), cores);
}

Status Communicator::close() {
  if (closed_ || executor_ == nullptr) return {};
  closed_ = true;
  Status outcome = executor_->drain();
  if (outcome.ok()) outcome = messages_->drain();
  if (!outcome.ok()) {
    // Operations that are left must not touch buffers any more: breaking the communicator ends them
    // all.
    health_->fail(outcome.with_context("destroying " + name()));
    (void)executor_->drain();
    (void)messages_->drain();
  }
  if (health_->cause().ok()) {
    executor_->leave();  // first, for it has last words
    messages_->leave();
    if (const Status last = executor_->compare_last_calls(); !last.ok()) health_->fail(last);
  }
  // The monitor goes first. It may have found a failure this moment, and tells the others before it
  // is done; once this rank has left nobody listens to it.
  if (watch_ != 0) runtime_->monitor().remove(std::exchange(watch_, 0));
  const Status cause = health_->cause();
  report_->trace();
  if (regroup_ != nullptr) regroup_->give_up();
  // A peer that ended when no call needed it any more is no error.
  if (cause.code() == Code::kPeerFailed && !executor_->has_failed()) return {};
  return cause;
}

Communicator::~Communicator() {
  try_to([this] { (void)close(); });
  runtime_->inquiries().remove(inquiry_token_);
  if (watch_ != 0) runtime_->monitor().remove(watch_);
}

}  // namespace tutti
