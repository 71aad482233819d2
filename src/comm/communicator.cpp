// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How a communicator is made, watched, split, shrunk and destroyed.
#include "comm/communicator.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>

#include "bootstrap/join.hpp"
#include "bootstrap/meeting_place.hpp"
#include "bootstrap/service.hpp"
#include "comm/announce.hpp"
#include "comm/measure_network.hpp"
#include "comm/settings.hpp"
#include "comm/shared_tuning.hpp"
#include "core/caught.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "transports/names.hpp"

namespace tutti {
namespace {

std::string next_name() {
  static std::atomic<int> counter{0};
  return fmt::format("comm {}", counter.fetch_add(1));
}

// What the struct had at first: up to the name.
constexpr size_t kFirstConfigBytes = offsetof(tutti_comm_config, tuner);

int64_t milliseconds(int64_t value) { return value < 0 ? kNever : value; }

}  // namespace

Result<CommunicatorConfig> resolve_config(const tutti_comm_config* config,
                                          const Environment& environment) {
  tutti_comm_config given = TUTTI_COMM_CONFIG_INIT;
  if (config != nullptr) {
    if (config->size < kFirstConfigBytes || config->size > sizeof given) {
      return Status::format(Code::kInvalidArgument,
                            "tutti_comm_config.size is {}, expected {} to {}: begin with "
                            "TUTTI_COMM_CONFIG_INIT",
                            config->size, kFirstConfigBytes, sizeof given);
    }
    std::memcpy(&given, config, config->size);
  }
  CommunicatorConfig resolved;
  resolved.timeout_ms =
      milliseconds(given.timeout_ms >= 0 ? given.timeout_ms : environment.timeout_ms);
  resolved.init_timeout_ms = milliseconds(given.init_timeout_ms >= 0 ? given.init_timeout_ms
                                                                     : environment.init_timeout_ms);
  resolved.strict = given.strict >= 0 ? given.strict != 0 : environment.strict;
  resolved.name = given.name != nullptr ? given.name : next_name();
  if (given.tuner != nullptr) {
    if (given.tuner->size != sizeof resolved.tuner || given.tuner->choose == nullptr) {
      return Status::format(Code::kInvalidArgument,
                            "tutti_tuner: size {} with {} function, expected size {} with one",
                            given.tuner->size, given.tuner->choose == nullptr ? "no" : "a",
                            sizeof resolved.tuner);
    }
    resolved.tuner = *given.tuner;
  }
  return resolved;
}

namespace {

std::string describe(const FoundTuning& tuning) {
  const Machine& machine = tuning.tuning.machine;
  return fmt::format(
      "algorithms by {}: pulls take {:.2f} us and {:.0f} ps per byte, copies beyond {} KiB {:.0f}",
      tuning.path.empty() ? "figures found here" : "tuning file " + tuning.path,
      machine.pull_s * 1e6, machine.pull_cached_s * 1e12, machine.cache_bytes >> 10,
      machine.copy_memory_s * 1e12);
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
  Result<UniqueId> id = make_unique_id();
  if (!id.ok()) return id.status();
  TUTTI_RETURN_IF_ERROR(start_service(*id, kNever));
  return encode(*id);
}

Communicator::Communicator(std::shared_ptr<Runtime> runtime, Exchange& exchange,
                           const CommunicatorConfig& config)
    : runtime_(std::move(runtime)),
      rank_(exchange.rank()),
      ranks_(exchange.ranks()),
      config_(config) {}

Result<std::unique_ptr<Communicator>> Communicator::create(std::shared_ptr<Runtime> runtime,
                                                           Exchange& exchange,
                                                           const CommunicatorConfig& config,
                                                           std::optional<NetworkFigures> known) {
  std::unique_ptr<Communicator> made(new Communicator(std::move(runtime), exchange, config));
  made->network_ = std::move(known);
  if (Status status = made->connect(exchange); !status.ok()) {
    return status.with_context(making(config, made->rank_, made->ranks_));
  }
  return made;
}

std::string Communicator::making(const CommunicatorConfig& config, int rank, int ranks) {
  return fmt::format("making {} (rank {} of {})", name_of_group(config.name, config.global_ranks),
                     rank, ranks);
}

std::string Communicator::name() const { return name_of_group(config_.name, config_.global_ranks); }

TransportConfig Communicator::transport_config_of(const Hosts& hosts, int workers,
                                                  bool oversubscribed) const {
  const Environment& environment = runtime_->environment();
  const int64_t limit = config_.init_timeout_ms;
  return {
      .lanes = workers,
      .channels = workers + 1,
      .deadline_ms = limit == kNever ? kNever : now_ms() + limit,
      .label = config_.name,
      .job = environment.job,
      .all_ranks = ranks_,
      .global_ranks = config_.global_ranks,
      .shared = {.sizes = {.slots = SlotPlan::of(environment.slot_bytes, hosts.most_on_a_host()),
                           .window_bytes = environment.window_bytes},
                 .pulls = pulls_for(environment),
                 .staging = environment.staging,
                 .oversubscribed = oversubscribed},
      .network = {.provider = environment.ofi_provider,
                  .interfaces = environment.net_interfaces,
                  .limits_providers = !environment.fi_provider.empty(),
                  .encrypt = environment.net_encrypt,
                  .nics = nics_of(environment)}};
}

Status Communicator::connect(Exchange& exchange) {
  const Environment& environment = runtime_->environment();
  runtime_->introduce(rank_, ranks_);
  Result<Agreement> agreed = agree(exchange, environment, config_.strict);
  if (!agreed.ok()) return agreed.status();
  const auto local_ranks = static_cast<int>(agreed->hosts.neighbors(rank_).size());
  Result<WorkerPool*> workers = runtime_->workers(agreed->hosts.place(rank_), local_ranks);
  if (!workers.ok()) return workers.status();

  Result<FoundTuning> tuning = share_tuning(exchange, *runtime_);
  if (!tuning.ok()) return tuning.status();
  if (rank_ == 0) log::info("{}: {}", config_.name, describe(*tuning));

  const bool oversubscribed = local_ranks > agreed->cores;
  const TransportConfig transport_config =
      transport_config_of(agreed->hosts, (*workers)->size(), oversubscribed);
  Result<Connection> connection =
      tutti::connect(exchange, std::move(agreed->hosts), environment, transport_config);
  if (!connection.ok()) return connection.status();
  connection_ = *std::move(connection);
  if (rank_ == 0) announce(config_.name, ranks_, connection_);
  health_ = std::make_unique<Health>(rank_, *connection_.transport);
  health_->report_by([this](const Status& cause) { report(cause); });
  Result<std::unique_ptr<Endpoint>> endpoint =
      connection_.transport->open_endpoint((*workers)->size());
  if (!endpoint.ok()) return endpoint.status();
  messages_endpoint_ = *std::move(endpoint);
  TUTTI_RETURN_IF_ERROR(learn_network(exchange, *tuning,
                                      spin_budget_for(local_ranks, agreed->cores),
                                      transport_config.deadline_ms));
  const ChoiceSettings choice{.environment = environment,
                              .strict = config_.strict,
                              .tuner = config_.tuner,
                              .tuning = *tuning,
                              .network = network_,
                              .local_ranks = local_ranks,
                              .cores = agreed->cores,
                              .oversubscribed = oversubscribed,
                              .cache_domains = agreed->cache_domains,
                              .name = config_.name};
  TUTTI_RETURN_IF_ERROR(make_executor(**workers, choice));
  return watch_peers(exchange);
}

namespace {

struct KnownNetwork {
  int64_t known = 0;
  double message_s = 0;
  double line_byte_s = 0;
};

}  // namespace

// What the first rank knows of the network is for all: newcomers know nothing.
Status Communicator::share_known_network(Exchange& exchange) {
  KnownNetwork mine;
  if (network_) mine = {1, network_->message_s, network_->line_byte_s};
  const auto all = gather_values(exchange, mine);
  if (!all.ok()) return all.status();
  const KnownNetwork& first = all->front();
  if (first.known == 0) {
    network_.reset();
  } else if (!network_) {
    network_ = NetworkFigures{first.message_s, first.line_byte_s, "inherited"};
  }
  return {};
}

// The first that there is of: what a tuning file says, what is known already, what is measured now,
// over the endpoint of the users' messages, which nobody uses yet; else the defaults.
Status Communicator::learn_network(Exchange& exchange, const FoundTuning& tuning,
                                   const SpinBudget& budget, int64_t deadline_ms) {
  if (connection_.joined == nullptr) {
    network_.reset();
    return {};
  }
  const int64_t begun = now_ms();
  TUTTI_RETURN_IF_ERROR(share_known_network(exchange));
  if (tuning.tuning.network) {
    network_ = tuning.tuning.network;
    network_->origin = "tuning file " + tuning.path;
  } else if (!network_ && runtime_->environment().measure_network) {
    const SpinBudget polls = polling(budget);
    // Half of the time that is left: the rest is there to tell how it went.
    const Waiter waiter{
        .bell = connection_.transport->bell(rank_),
        .sleepers = connection_.transport->sleepers(),
        .budget = &polls,
        .deadline_ms = deadline_ms == kNever ? kNever : begun + (deadline_ms - begun) / 2,
        .polls = true};
    auto measured =
        measure_network(exchange, connection_.joined->hosts(), *messages_endpoint_, waiter);
    if (!measured.ok()) return measured.status();
    network_ = *std::move(measured);
  } else if (!network_) {
    network_.emplace();
  }
  if (rank_ == 0) {
    log::info("{}: network: {}, known after {} ms", config_.name, to_string(*network_),
              now_ms() - begun);
  }
  return {};
}

// For a communicator of some of the ranks, which all have the same figures.
std::optional<NetworkFigures> Communicator::network_to_inherit() const {
  constexpr std::string_view kInherited = ", inherited";
  std::optional<NetworkFigures> network = network_;
  if (network && !network->origin.ends_with(kInherited)) network->origin += kInherited;
  return network;
}

Status Communicator::make_executor(WorkerPool& workers, const ChoiceSettings& choice) {
  Result<std::unique_ptr<Lanes>> lanes =
      Lanes::create(connection_, rank_, ranks_, workers.size(), choice);
  if (!lanes.ok()) return lanes.status();
  lanes_ = *std::move(lanes);
  ExecutorSettings settings;
  settings.rank = rank_;
  settings.ranks = ranks_;
  lanes_->describe(settings);
  settings.tell = [this](int rank, const CallNote& note) { control_->tell(rank, bytes_of(note)); };
  settings.caller_budget = spin_budget_for(choice.local_ranks, choice.cores);
  settings.worker_budget = spin_budget_for(choice.local_ranks * (1 + workers.size()), choice.cores);
  settings.worker_budget.sleeps_if_oversubscribed = !settings.polls;
  if (settings.polls) {
    settings.caller_budget = polling(settings.caller_budget);
    settings.worker_budget = polling(settings.worker_budget);
  }
  if (const int64_t spins = choice.environment.spin_count; spins >= 0) {
    settings.caller_budget.spins = static_cast<uint32_t>(spins);
    settings.worker_budget.spins = static_cast<uint32_t>(spins);
  }
  if (choice.environment.spread && choice.oversubscribed) spread_over(choice.cores);
  settings.lateness = {.rank = rank_,
                       .ranks = ranks_,
                       .transport = connection_.transport.get(),
                       .warn_after_ms = choice.environment.warn_after_ms,
                       .communicator = config_.name};
  settings.caller_budget.hook = spread_.get();
  settings.worker_budget.hook = spread_.get();
  Transport& transport = *connection_.transport;
  executor_ = std::make_unique<Executor>(settings, lanes_->take(), lanes_->choose(), transport,
                                         *health_, workers);
  executor_->set_timeout(config_.timeout_ms);
  messages_ = std::make_unique<Messages>(rank_, transport, std::move(messages_endpoint_), *health_,
                                         *executor_, workers, settings.caller_budget,
                                         settings.worker_budget, settings.lateness);
  return {};
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

// ---- failures ----------------------------------------------------------------------------------

// Those of this host by their processes, those of others by the line to them.
Status Communicator::watch_peers(Exchange& exchange) {
  std::vector<Monitor::Peer> peers;
  for (int peer = 0; peer < ranks_; ++peer) {
    const PeerProcess& process = connection_.transport->process(peer);
    // Ranks may be threads of one process.
    if (peer == rank_ || !is_here(peer) || process.pid == getpid()) continue;
    peers.push_back({.pidfd = process.pidfd, .pid = process.pid, .rank = peer});
  }
  if (connection_.joined != nullptr) {
    Result<std::unique_ptr<Control>> control = exchange.stay();
    if (!control.ok()) return control.status();
    if (*control == nullptr) {
      return {Code::kUnsupported,
              "the ranks are on several hosts, but met in a way that does not reach beyond one"};
    }
    control_ = *std::move(control);
    health_->tell_others_by([this](const Status& cause) { control_->fail(cause); });
  }
  if (control_ != nullptr) {
    auto regroup = std::make_unique<LineRegroup>(*control_);
    line_regroup_ = regroup.get();
    regroup_ = std::move(regroup);
  } else {
    regroup_ = regroup_in_memory(rank_, connection_.transport->recovery().regroup_board(),
                                 [this](int peer) { return is_gone(peer); });
  }
  if (peers.empty() && control_ == nullptr) return {};
  Monitor::Line line{-1, nullptr};
  if (control_ != nullptr) line = {control_->fd(), [this] { hear(); }};
  Result<Monitor::Token> token = runtime_->monitor().watch(
      std::move(peers), [this](int peer) { peer_died(peer); }, std::move(line));
  if (!token.ok()) return token.status();
  watch_ = *token;
  return {};
}

bool Communicator::is_here(int peer) const {
  if (connection_.joined == nullptr) return true;
  const Hosts& hosts = connection_.joined->hosts();
  return hosts.host(peer) == hosts.host(rank_);
}

// Of a rank on this host, as the next.
bool Communicator::is_gone(int peer) const { return executor_->has_left(peer) || has_died(peer); }

bool Communicator::has_died(int peer) const {
  const PeerProcess& process = connection_.transport->process(peer);
  if (peer == rank_ || process.pid == getpid()) return false;
  return Monitor::has_ended({.pidfd = process.pidfd, .pid = process.pid, .rank = peer});
}

Status Communicator::death_of(int peer) const {
  return {Code::kPeerFailed, name_of(peer, connection_.transport->process(peer)) + " has died"};
}

void Communicator::peer_died(int peer) {
  if (!executor_->has_left(peer)) health_->fail(death_of(peer));
}

// The service that keeps ranks in touch knows their numbers here alone.
Status Communicator::in_group(const Status& cause) const {
  if (config_.global_ranks.empty() || cause.message().find("group \"") != std::string_view::npos) {
    return cause;
  }
  return cause.with_context(name());
}

// In the monitor's thread.
void Communicator::hear() {
  for (const ControlNews& news : control_->read()) {
    if (news.kind == ControlNews::Kind::kFailed) health_->learn(in_group(news.cause));
    if (news.kind == ControlNews::Kind::kTold) executor_->heard(news.rank, news.note);
    line_regroup_->heard(news);
  }
}

// A lack of memory here is no reason for another failure.
void Communicator::report(const Status& cause) {
  try {
    const auto view = view_of(*connection_.transport);
    if (view) log_failure(config_.name, cause, *view);
  } catch (const std::bad_alloc&) {
  }
  trace();
}

void Communicator::trace() {
  if (!runtime_->trace().wanted()) return;
  try {
    auto view = view_of(*connection_.transport);
    const bool whole = config_.global_ranks.empty();
    const int number = whole ? rank_ : config_.global_ranks[static_cast<size_t>(rank_)];
    if (view) runtime_->trace().add(*std::move(view), number);
  } catch (const std::bad_alloc&) {
  }
}

// ---- the end -----------------------------------------------------------------------------------

Status Communicator::close() {
  if (closed_ || executor_ == nullptr) return {};
  closed_ = true;
  Status outcome = executor_->drain();
  if (outcome.ok()) outcome = messages_->drain();
  if (!outcome.ok()) {
    // What is left must not touch buffers any more: break the communicator, which ends it all.
    health_->fail(outcome.with_context("destroying " + name()));
    (void)executor_->drain();
    (void)messages_->drain();
  }
  if (health_->cause().ok()) {
    messages_->leave();
    if (const Status last = executor_->leave(); !last.ok()) health_->fail(last);
  }
  const Status cause = health_->cause();
  trace();
  // First the monitor, which may have found a failure this moment: it tells the others before it is
  // done, and once this rank has left nobody listens to it.
  if (watch_ != 0) runtime_->monitor().remove(std::exchange(watch_, 0));
  if (regroup_ != nullptr) regroup_->give_up();
  // That a peer ended when nobody needed it any more is no news.
  if (cause.code() == Code::kPeerFailed && !executor_->has_failed()) return {};
  return cause;
}

Communicator::~Communicator() {
  try_to([this] { (void)close(); });
  if (watch_ != 0) runtime_->monitor().remove(watch_);
}

// ---- making one of another ---------------------------------------------------------------------

// Of ranks of this one.
std::vector<int> Communicator::global_ranks_of(std::vector<int> ranks) const {
  if (config_.global_ranks.empty()) return ranks;
  for (int& rank : ranks) rank = config_.global_ranks[static_cast<size_t>(rank)];
  return ranks;
}

Result<std::unique_ptr<Communicator>> Communicator::meet(const UniqueId& id, const Joiner& joiner,
                                                         const Making& how) const {
  EndsWaits scope(how.failed, [&] { health_->interrupt(how.context); });
  const int64_t limit = how.config.init_timeout_ms;
  auto exchange = join(id, joiner, limit == kNever ? kNever : now_ms() + limit);
  if (!exchange.ok()) {
    const Status why = exchange.status();
    return scope
        .instead_of(why.with_context(making(how.config, joiner.rank, joiner.ranks)),
                    news_delay_ms())
        .with_context(how.context);
  }
  auto made = create(runtime_, **exchange, how.config, network_to_inherit());
  if (made.ok()) return made;
  return scope.instead_of(made.status(), news_delay_ms()).with_context(how.context);
}

// ---- splitting ---------------------------------------------------------------------------------

namespace {

// What each rank says of itself in a split.
struct SplitPlace {
  int32_t color;
  int32_t key;
};

// The ranks of `color`, in the order of the new communicator.
std::vector<int> members_of(const std::vector<SplitPlace>& places, int color) {
  std::vector<int> members;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].color == color) members.push_back(static_cast<int>(i));
  }
  std::stable_sort(members.begin(), members.end(), [&places](int a, int b) {
    return places[static_cast<size_t>(a)].key < places[static_cast<size_t>(b)].key;
  });
  return members;
}

// Every rank's `mine`, in rank order.
template <typename Entry>
Result<std::vector<Entry>> gather_all(Executor& executor, int ranks, const Entry& mine) {
  std::vector<Entry> entries(static_cast<size_t>(ranks));
  Call call;
  call.collective = Collective::kAllgather;
  call.count = sizeof mine;
  call.send = &mine;
  call.recv = entries.data();
  TUTTI_RETURN_IF_ERROR(executor.run(call));
  return entries;
}

}  // namespace

Result<std::unique_ptr<Communicator>> Communicator::split(int color, int key,
                                                          const CommunicatorConfig& config) {
  const std::string context = "split of " + name();
  const auto places = gather_all(*executor_, ranks_, SplitPlace{.color = color, .key = key});
  if (!places.ok()) return places.status().with_context(context);
  const std::vector<int> members = color < 0 ? std::vector<int>{} : members_of(*places, color);

  MeetingPlace mine;
  if (!members.empty() && members.front() == rank_) mine = open_place(make_unique_id(), kNever);
  const auto meetings = gather_all(*executor_, ranks_, mine);
  if (!meetings.ok()) return meetings.status().with_context(context);
  if (color < 0) return std::unique_ptr<Communicator>();

  const int first = members.front();
  Result<UniqueId> id = id_of((*meetings)[static_cast<size_t>(first)], first);
  if (!id.ok()) return id.status().with_context(context);
  const auto place = std::find(members.begin(), members.end(), rank_) - members.begin();
  CommunicatorConfig known = config;
  known.global_ranks = global_ranks_of(members);
  return meet(*id, {.rank = static_cast<int>(place), .ranks = static_cast<int>(members.size())},
              {.context = context, .config = known, .failed = [this] { return health_->cause(); }});
}

// ---- growing -----------------------------------------------------------------------------------

namespace {

// What each rank knows of those that are to come.
struct GrowthPlan {
  int32_t has_id;
  tutti_unique_id id;
};

}  // namespace

Result<std::unique_ptr<Communicator>> Communicator::grow(const UniqueId* id, int newcomers,
                                                         const CommunicatorConfig& config) {
  const std::string context = "growing " + name();
  GrowthPlan mine{.has_id = id != nullptr ? 1 : 0, .id = {}};
  if (id != nullptr) mine.id = encode(*id);
  const auto plans = gather_all(*executor_, ranks_, mine);
  if (!plans.ok()) return plans.status().with_context(context);
  const auto first = std::ranges::find(*plans, 1, &GrowthPlan::has_id);
  if (first == plans->end()) {
    return Status::format(Code::kInvalidArgument,
                          "{}: no rank gave an id, expected that of the newcomers from one rank "
                          "or more",
                          context);
  }
  for (auto other = first; other != plans->end(); ++other) {
    if (other->has_id == 0 || std::memcmp(&other->id, &first->id, sizeof first->id) == 0) continue;
    return Status::format(Code::kInvalidArgument, "{}: ranks {} and {} gave different ids", context,
                          first - plans->begin(), other - plans->begin());
  }
  const Result<UniqueId> where = decode(first->id);
  if (!where.ok()) return where.status().with_context(context);
  return meet(
      *where, {.rank = rank_, .ranks = ranks_ + newcomers, .newcomers = newcomers},
      {.context = context, .config = config, .failed = [this] { return health_->cause(); }});
}

// ---- shrinking ---------------------------------------------------------------------------------

Result<std::unique_ptr<Communicator>> Communicator::shrink(const CommunicatorConfig& config) {
  const std::lock_guard lock(shrinking_);
  const std::string context = "shrinking " + name();
  const int64_t limit = config.init_timeout_ms;
  const int64_t deadline_ms = limit == kNever ? kNever : now_ms() + limit;
  // For a try: they are all there already, and if one dies on its way, the others are to find out.
  int64_t try_ms = control_ == nullptr ? 1000 : 5000;
  for (;; try_ms *= 2) {
    if (interrupted()) health_->interrupt(context);
    if (!cannot_shrink_.ok()) return cannot_shrink_;
    const Result<Survivors> survivors = agree_on_survivors(*regroup_, rank_, deadline_ms);
    if (!survivors.ok()) {
      cannot_shrink_ = survivors.status().with_context(context);
      continue;
    }
    log::info("{} goes on as {}, with {} of {} ranks", config_.name, config.name,
              survivors->ranks.size(), ranks_);
    CommunicatorConfig tried = config;
    tried.global_ranks = global_ranks_of(survivors->ranks);
    tried.init_timeout_ms = std::clamp<int64_t>(deadline_ms - now_ms(), 1, try_ms);
    const std::vector<int>& ranks = survivors->ranks;
    const auto place = std::ranges::find(ranks, rank_) - ranks.begin();
    auto made = meet(
        survivors->id, {.rank = static_cast<int>(place), .ranks = static_cast<int>(ranks.size())},
        {.context = context, .config = tried, .failed = [&] { return loss_among(ranks); }});
    // Who has died since is not among those of the next round.
    const Code code = made.status().code();
    const bool again = code == Code::kPeerFailed || code == Code::kTimeout;
    if (made.ok()) return made;
    if (!again || interrupted() || now_ms() >= deadline_ms) return made.status();
    log::info("{}; trying again", made.status().message());
  }
}

// Of ranks on this host. Of others, the line tells of the first failure only.
Status Communicator::loss_among(const std::vector<int>& ranks) const {
  for (const int peer : ranks) {
    if (is_here(peer) && has_died(peer)) return death_of(peer);
  }
  return {};
}

}  // namespace tutti
