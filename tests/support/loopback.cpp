// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What happens to messages. Everything happens under the network's one lock, in the thread of
// whoever asks; a buffer posted by a rank is written in that rank's looks and at its closing only.
#include "support/loopback.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "support/loopback_network.hpp"

namespace tutti_test {
namespace loopback {

bool Network::refuses(const DataConnection& wire) {
  if (weather.refusals == 0 || wire.looks == 0 || draw(weather.refusals - 1) != 0) return false;
  ++counts.refused;
  return true;
}

ssize_t Network::send(DataConnection& wire, const void* data, size_t bytes, fi_addr_t to,
                      Label label, void* context) {
  if (wire.sending >= weather.depth || refuses(wire)) return -FI_EAGAIN;
  if (cut_wire < wires.size() && wires[cut_wire] != nullptr && sends_before_cut-- == 0) {
    cut(*wires[cut_wire]);
    cut_wire = SIZE_MAX;
  }
  DataConnection* target = wires[to];
  if (target != nullptr && target->nic != wire.nic) return -FI_EHOSTUNREACH;
  if (wire.cut || target == nullptr || target->cut) {
    if (draw(1) == 0) return -FI_ECONNREFUSED;
    wire.queue->done.push_back({context, 0, FI_ECONNRESET});
    return 0;
  }
  if (wire.next_fails != 0) {
    wire.queue->done.push_back({context, 0, std::exchange(wire.next_fails, 0)});
    return 0;
  }
  Message& message = target->coming.emplace_back();
  message.source = wire.number;
  message.label = label;
  message.data = static_cast<const std::byte*>(data);
  message.bytes = bytes;
  message.context = context;
  message.due = target->looks + draw(weather.travel);
  ++wire.sending;
  counts.bytes[wire.nic] += bytes;
  if (draw(1) == 0) {
    message.copy.assign(message.data, message.data + bytes);
    message.data = message.copy.data();
    end_send(message, 0);
  }
  return 0;
}

ssize_t Network::post(DataConnection& wire, const Receive& receive) {
  if (wire.posted.size() >= weather.depth || refuses(wire)) return -FI_EAGAIN;
  wire.posted.push_back(receive);
  return 0;
}

void Network::cancel(DataConnection& wire, void* context) {
  const auto found = std::find_if(wire.posted.begin(), wire.posted.end(),
                                  [&](const Receive& one) { return one.context == context; });
  if (found == wire.posted.end()) return;  // too late
  wire.queue->done.push_back({context, 0, FI_ECANCELED});
  wire.posted.erase(found);
}

void Network::end_send(Message& message, int error) {
  DataConnection* source = wires[message.source];
  if (message.context == nullptr || source == nullptr) return;
  --source->sending;
  source->queue->done.push_back({message.context, message.bytes, error});
  message.context = nullptr;
}

void Network::end_receive(DataConnection& wire, const Message& message, int error) {
  wire.queue->done.push_back({message.place->context, message.moved, error});
}

std::optional<Receive> Network::take_posted(DataConnection& wire, const Label& label) {
  const auto found = std::find_if(wire.posted.begin(), wire.posted.end(), [&](const Receive& one) {
    return one.label.tagged == label.tagged && one.label.tag == label.tag;
  });
  if (found == wire.posted.end()) return {};
  const Receive taken = *found;
  wire.posted.erase(found);
  return taken;
}

// Whether all of it has come.
bool Network::move(DataConnection& wire, Message& message, uint64_t most) {
  const size_t wanted = std::min(message.bytes, message.place->room);
  const size_t part = std::min(wanted - message.moved, most);
  if (part > 0) {
    std::memcpy(message.place->memory + message.moved, message.data + message.moved, part);
  }
  counts.parts += message.moved > 0;
  message.moved += part;
  if (message.moved < wanted) return false;
  end_receive(wire, message, message.bytes > wanted ? FI_ETRUNC : 0);
  end_send(message, 0);
  return true;
}

void Network::look(DataConnection& wire) {
  ++wire.looks;
  std::vector<bool> held(wires.size());  // by source: what comes behind has not come either
  std::vector<bool> unfinished(wires.size());
  for (auto message = wire.coming.begin(); message != wire.coming.end();) {
    const size_t source = message->source;
    bool over = false;
    if (!message->place && !held[source]) {
      held[source] = message->due > wire.looks;
      if (!held[source]) message->place = take_posted(wire, message->label);
      if (message->place) message->due = wire.looks + draw(weather.pause);
    }
    if (message->place && message->due <= wire.looks) {
      over = move(wire, *message, 1 + draw(weather.part_bytes));
    }
    if (over && unfinished[source]) ++counts.overtaken;
    unfinished[source] = unfinished[source] || !over;
    message = over ? wire.coming.erase(message) : std::next(message);
  }
}

// Of a message that comes to nothing.
void Network::lose(DataConnection& wire, Message& message) {
  end_send(message, FI_ECONNRESET);
  if (message.place) end_receive(wire, message, FI_ECONNRESET);
}

// As libfabric, takes in what has come while it closes.
void Network::close(DataConnection& wire) {
  for (Message& message : wire.coming) {
    if (!message.place) message.place = take_posted(wire, message.label);
    if (!message.place) {
      end_send(message, FI_ECONNRESET);
    } else {
      move(wire, message, message.bytes);
      ++counts.at_close;
    }
  }
  wires[wire.number] = nullptr;
  for (DataConnection* other : wires) {
    if (other == nullptr) continue;
    std::erase_if(other->coming, [&](Message& message) {
      const bool lost = message.source == wire.number && message.context != nullptr;
      if (lost) lose(*other, message);
      return lost;
    });
  }
}

void Network::cut(DataConnection& wire) {
  wire.cut = true;
  for (DataConnection* other : wires) {
    if (other == nullptr) continue;
    std::erase_if(other->coming, [&](Message& message) {
      const bool lost = other == &wire || message.source == wire.number;
      if (lost) lose(*other, message);
      return lost;
    });
  }
}

}  // namespace loopback

struct Loopback::State {
  loopback::Network network;
};

Loopback::Loopback(const Weather& weather) : state_(new State{loopback::Network(weather)}) {
  tutti::ofi::replace_library(&loopback::library_over(&state_->network));
}

Loopback::~Loopback() { tutti::ofi::replace_library(nullptr); }

void Loopback::cut(int opened, uint64_t sends) {
  const std::lock_guard lock(state_->network.mutex);
  state_->network.cut_wire = static_cast<size_t>(opened);
  state_->network.sends_before_cut = sends;
}

void Loopback::cut_own() {
  const std::lock_guard lock(state_->network.mutex);
  for (loopback::DataConnection* wire : state_->network.wires) {
    if (wire != nullptr && wire->opener == std::this_thread::get_id()) state_->network.cut(*wire);
  }
}

void Loopback::fail_next_send(int opened, int error) {
  const std::lock_guard lock(state_->network.mutex);
  state_->network.wires[static_cast<size_t>(opened)]->next_fails = error;
}

Loopback::Counts Loopback::counts() const {
  const std::lock_guard lock(state_->network.mutex);
  return state_->network.counts;
}

}  // namespace tutti_test
