// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The shared-memory transport: ranks on one host, one region, no files.
#include "core/socket.hpp"
#include "transports/names.hpp"
#include "transports/shm/arena.hpp"
#include "transports/shm/attach.hpp"
#include "transports/shm/descriptor.hpp"
#include "transports/shm/endpoint.hpp"
#include "transports/shm/fallback_copy.hpp"
#include "transports/shm/pull.hpp"

namespace tutti {
namespace shm {
namespace {

class ShmLaneMemory final : public LaneMemory {
 public:
  ShmLaneMemory(const Attached& attached, const Layout& layout, const Arenas& arenas,
                const Notifier& notifier, int lane, int rank)
      : region_(*attached.region),
        layout_(layout),
        lane_(lane),
        rank_(rank),
        processes_(attached.processes),
        arenas_(arenas),
        notifier_(notifier),
        fallback_copy_(*attached.region, layout, lane, rank),
        sizes_(layout.sizes()) {
    for (int r = 0; r < layout.ranks(); ++r) {
      Rank place{};
      place.calls = region_.at<CallLine>(layout.calls(r, lane));
      place.records = region_.at<RecordLine>(layout.records(r, lane));
      place.progress = region_.at<ProgressLine>(layout.progress(r, lane));
      place.departure = region_.at<Departure>(layout.departure(r));
      ranks_.push_back(place);
    }
  }
  [[nodiscard]] std::span<const Rank> ranks() const override { return ranks_; }
  [[nodiscard]] LaneMemorySizes sizes() const override { return sizes_; }
  Status map_windows() override {
    return map(windows_, layout_.windows(lane_), [this](Rank& place, int rank) {
      place.window = windows_.at<std::byte>(layout_.window(rank, lane_));
    });
  }
  Status map_slots() override {
    return map(slots_, layout_.slots(lane_), [this](Rank& place, int rank) {
      for (const int which : {0, 1}) {
        place.slots[which] = slots_.at<std::byte>(layout_.slot(rank, lane_, which));
      }
    });
  }
  Status reserve_window() override {
    if (!window_reserved_) TUTTI_RETURN_IF_ERROR(windows_.reserve(layout_.window(rank_, lane_)));
    window_reserved_ = true;
    return {};
  }
  Status reserve_slots(uint64_t bytes) override {
    for (const int which : {0, 1}) {
      TUTTI_RETURN_IF_ERROR(get(slots_, layout_.slot(rank_, lane_, which), bytes));
    }
    return {};
  }
  Status reserve_ping_pong(uint64_t bytes) override {
    TUTTI_RETURN_IF_ERROR(
        map(ping_pong_, layout_.ping_pong_slots(lane_), [this](Rank& place, int rank) {
          place.ping_pong = ping_pong_.at<std::byte>(layout_.ping_pong_slot(rank, lane_));
        }));
    for (int rank = 0; rank < layout_.ranks(); ++rank) {
      TUTTI_RETURN_IF_ERROR(get(ping_pong_, layout_.ping_pong_slot(rank, lane_), bytes));
    }
    return {};
  }
  [[nodiscard]] bool is_shared(int rank, uint64_t address) const override {
    return arenas_.holds(rank, address);
  }
  [[nodiscard]] const std::byte* mapped(int rank, uint64_t address, uint64_t bytes) const override {
    return arenas_.mapped(rank, address, bytes);
  }
  Status pull(int rank, void* dst, uint64_t address, uint64_t bytes) override {
    return read_process(processes_[static_cast<size_t>(rank)].pid, dst, address, bytes);
  }
  Result<bool> ask_for(int rank, void* dst, uint64_t address, uint64_t bytes) override {
    Result<bool> done = fallback_copy_.ask(rank, static_cast<std::byte*>(dst), address, bytes);
    notifier_.all();
    return done;
  }
  bool serve_fallback_copy() override {
    if (!fallback_copy_.answer()) return false;
    notifier_.all();
    return true;
  }

 private:
  // Maps an extent, once. Then `place(entry, rank)` sets where the rank's memory in there lies.
  Status map(Mapping& mapping, Extent extent, const auto& place) {
    if (mapping.is_open()) return {};
    TUTTI_ASSIGN_OR_RETURN(mapping, region_.map(extent));
    for (int rank = 0; rank < layout_.ranks(); ++rank) {
      place(ranks_[static_cast<size_t>(rank)], rank);
    }
    return {};
  }
  static Status get(const Mapping& mapping, Extent slot, uint64_t bytes) {
    const Extent used{slot.offset, std::min(bytes, slot.bytes)};
    TUTTI_RETURN_IF_ERROR(mapping.reserve(used));
    mapping.map_in(used);
    return {};
  }

  const Region& region_;
  const Layout& layout_;
  const int lane_;
  const int rank_;
  const std::vector<PeerProcess>& processes_;
  const Arenas& arenas_;
  const Notifier& notifier_;
  FallbackCopy fallback_copy_;
  const LaneMemorySizes sizes_;
  Mapping slots_;  // of all ranks, as the next ones are
  Mapping ping_pong_;
  Mapping windows_;
  bool window_reserved_ = false;
  std::vector<Rank> ranks_;
};

class ShmTransport final : public Transport, private SharedMemory, private Recovery {
 public:
  ShmTransport(int rank, const Layout& layout, Attached attached, bool can_pull,
               const TransportConfig& config)
      : rank_(rank),
        can_pull_(can_pull),
        config_(config.shared),
        numbers_(config.numbers),
        layout_(layout),
        attached_(std::move(attached)),
        arenas_(region(), layout_, rank),
        opened_(static_cast<size_t>(layout.channels())) {
    notifier_.sleepers = region().at<Sleepers>(layout.sleepers());
    notifier_.needs_fence = !register_membarrier();
    for (int r = 0; r < layout.ranks(); ++r) {
      notifier_.bells.push_back(region().at<Bell>(layout.bell(r)));
    }
  }

  [[nodiscard]] std::string_view name() const override { return "shm"; }

  Result<std::unique_ptr<Endpoint>> open_endpoint(int channel) override {
    if (channel < 0 || channel >= layout_.channels()) {
      return Status::format(Code::kInternal, "channel {} was asked for, there are {}", channel,
                            layout_.channels());
    }
    if (opened_[static_cast<size_t>(channel)]) {
      return Status::format(Code::kInternal, "channel {} is open already", channel);
    }
    opened_[static_cast<size_t>(channel)] = true;
    return std::unique_ptr<Endpoint>(std::make_unique<ShmEndpoint>(
        Surroundings{region(), layout_, notifier_, arenas_, attached_.processes, can_pull_,
                     numbers_, config_.store_target, config_.oversubscribed},
        rank_, channel));
  }

  SharedMemory* shared_memory() override { return this; }
  Recovery& recovery() override { return *this; }
  Bell* bell(int rank) override { return notifier_.bells[static_cast<size_t>(rank)]; }
  Sleepers* sleepers() override { return notifier_.sleepers; }
  void notify() override { notifier_.all(); }

  [[nodiscard]] const PeerProcess& process(int rank) const override {
    return attached_.processes[static_cast<size_t>(rank)];
  }

  [[nodiscard]] std::span<const std::byte> mapped_memory() const override {
    return {region().near().base(), region().near().bytes()};
  }
  Notes* notes(int rank, int lane) override {
    return region().at<Notes>(layout_.notes(rank, lane));
  }

 private:
  Result<std::unique_ptr<LaneMemory>> open_lane_memory(int lane) override {
    if (lane < 0 || lane >= layout_.lanes()) {
      return Status::format(Code::kInternal, "lane {} was asked for, there are {}", lane,
                            layout_.lanes());
    }
    return std::unique_ptr<LaneMemory>(
        std::make_unique<ShmLaneMemory>(attached_, layout_, arenas_, notifier_, lane, rank_));
  }

  [[nodiscard]] bool can_pull() const override { return can_pull_; }
  [[nodiscard]] bool can_map_peers() const override { return region().is_whole(); }
  void* allocate(uint64_t bytes) override { return arenas_.take(bytes); }
  void free(void* memory) override { arenas_.give_back(memory); }
  SharedState* shared_state() override { return region().at<SharedState>(layout_.state()); }
  const Departure* departure(int rank) override {
    return region().at<Departure>(layout_.departure(rank));
  }
  LifeSign* life_sign(int rank) override { return region().at<LifeSign>(layout_.life_sign(rank)); }
  RegroupBoard regroup_board() override {
    return {
        region().at<RegroupDecision>(layout_.regroup_decision()),
        {region().at<RegroupSign>(layout_.regroup_signs()), static_cast<size_t>(layout_.ranks())}};
  }

  [[nodiscard]] const Region& region() const { return *attached_.region; }

  const int rank_;
  const bool can_pull_;
  const SharedMemoryConfig config_;
  const std::vector<int> numbers_;
  const Layout layout_;
  Attached attached_;
  Arenas arenas_;
  Notifier notifier_;
  std::vector<bool> opened_;  // channels
};

Status available() {
  if (!may_use_unix_sockets()) return {Code::kUnsupported, "this process may not use Unix sockets"};
  return anonymous_file().status();
}

Result<std::unique_ptr<Transport>> connect(Exchange& exchange, const TransportConfig& config) {
  const Layout layout(exchange.ranks(), config.lanes, config.channels, config.shared.sizes);
  auto attached = attach(exchange, layout, config.deadline_ms);
  if (attached.ok()) {
    name_ranks(config, attached->processes);
    describe(*attached->region, layout, config, exchange.rank());
  }
  Result<bool> can_pull = false;
  if (attached.ok() && config.shared.pulls) can_pull = all_can_pull(exchange, attached->processes);
  if (const Status& failed = attached.ok() ? can_pull.status() : attached.status(); !failed.ok()) {
    return failed.with_context("sharing memory (shm)");
  }
  return std::unique_ptr<Transport>(std::make_unique<ShmTransport>(
      exchange.rank(), layout, *std::move(attached), *can_pull, config));
}

}  // namespace
}  // namespace shm

extern const TransportKind shm_transport;
const TransportKind shm_transport = {
    .name = "shm",
    .summary = "shared memory between the processes of one host",
    .reach = Reach::kHost,
    .available = shm::available,
    .connect = shm::connect,
};

}  // namespace tutti
