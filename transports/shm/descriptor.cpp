// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/shm/descriptor.hpp"

#include <unistd.h>

#include "core/fields.hpp"
#include "core/process_state.hpp"
#include "core/socket.hpp"

namespace tutti::shm {
namespace {

void describe_all(Descriptor& to, const Layout& layout, const TransportConfig& config) {
  const Extent lines = layout.lines(0);
  const auto within = [&](Extent extent) {
    return static_cast<uint32_t>(extent.offset - lines.offset);
  };
  to.version = kDescriptorVersion;
  to.descriptor_bytes = sizeof(Descriptor);
  to.near_bytes = layout.near_bytes();
  to.ranks = static_cast<uint32_t>(layout.ranks());
  to.lanes = static_cast<uint32_t>(layout.lanes());
  to.all_ranks = static_cast<uint32_t>(config.all_ranks > 0 ? config.all_ranks : layout.ranks());
  to.call_lines = kCallLines;
  to.state_at = layout.state().offset;
  to.members_at = layout.members().offset;
  to.departures_at = layout.departure(0).offset;
  to.lines_at = lines.offset;
  to.lane_bytes = kLinesBytes;
  to.call_line_bytes = sizeof(CallLine);
  to.records_at = within(layout.records(0, 0));
  to.progress_at = within(layout.progress(0, 0));
  to.notes_at = within(layout.notes(0, 0));
  to.notes_bytes = sizeof(Notes);
  to.key = config.key;
  to.made = moment_now();
  put_text(to.name, config.label);
  put_text(to.job, config.job);
  put_text(to.host, host_name());
  to.magic.store(kDescriptorMagic, std::memory_order_release);
}

}  // namespace

void describe(const Region& region, const Layout& layout, const TransportConfig& config, int rank) {
  const auto place = static_cast<size_t>(rank);
  const size_t number = config.numbers.empty() ? place : static_cast<size_t>(config.numbers[place]);
  Member& own = region.at<Member>(layout.members())[place];
  own.rank = static_cast<int32_t>(number);
  own.global_rank = config.global_ranks.empty() ? -1 : config.global_ranks[number];
  own.pid = getpid();
  own.started = process_state(own.pid).started;
  own.inquiries = config.inquiries;
  own.present.store(1, std::memory_order_release);
  if (rank == 0) describe_all(*region.at<Descriptor>(layout.descriptor()), layout, config);
}

}  // namespace tutti::shm
