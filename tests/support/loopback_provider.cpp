// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// libfabric's functions and tables of functions over the loopback network.
#include <rdma/fi_cm.h>
#include <rdma/fi_tagged.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "support/loopback_network.hpp"

namespace tutti_test::loopback {
namespace {

std::atomic<Network*> the_network = nullptr;

// ---- libfabric's tables ------------------------------------------------------------------------

DataConnection& wire_of(fid_ep* endpoint) { return *static_cast<DataConnection*>(endpoint); }
DataConnection& wire_of(fid* object) { return wire_of(reinterpret_cast<fid_ep*>(object)); }

ssize_t post_send(fid_ep* endpoint, const void* data, size_t bytes, fi_addr_t to, Label label,
                  void* context) {
  DataConnection& wire = wire_of(endpoint);
  const std::lock_guard lock(wire.network->mutex);
  return wire.network->send(wire, data, bytes, to, label, context);
}

ssize_t post_receive(fid_ep* endpoint, void* memory, size_t room, Label label, void* context) {
  DataConnection& wire = wire_of(endpoint);
  const std::lock_guard lock(wire.network->mutex);
  return wire.network->post(wire, {label, static_cast<std::byte*>(memory), room, context});
}

int bind_endpoint(fid* object, fid* other, uint64_t flags) {
  if ((flags & FI_RECV) == 0) return 0;  // the table of addresses
  auto* queue = static_cast<CompletionQueue*>(reinterpret_cast<fid_cq*>(other));
  DataConnection& wire = wire_of(object);
  wire.queue = queue;
  queue->wire = &wire;
  return 0;
}

int close_endpoint(fid* object) {
  const std::unique_ptr<DataConnection> wire(&wire_of(object));
  const std::lock_guard lock(wire->network->mutex);
  wire->network->close(*wire);
  return 0;
}

int name_of_endpoint(fid* object, void* address, size_t* bytes) {
  const uint64_t number = wire_of(object).number;
  *bytes = sizeof number;
  std::memcpy(address, &number, sizeof number);
  return 0;
}

ssize_t cancel_receive(fid* object, void* context) {
  DataConnection& wire = wire_of(object);
  const std::lock_guard lock(wire.network->mutex);
  wire.network->cancel(wire, context);
  return 0;
}

ssize_t read_queue(fid_cq* object, void* memory, size_t count) {
  auto& queue = *static_cast<CompletionQueue*>(object);
  auto* entries = static_cast<fi_cq_msg_entry*>(memory);
  const std::lock_guard lock(queue.network->mutex);
  queue.network->look(*queue.wire);
  size_t read = 0;
  for (; read < count && !queue.done.empty() && queue.done.front().error == 0; ++read) {
    entries[read] = {queue.done.front().context, 0, queue.done.front().bytes};
    queue.done.pop_front();
  }
  if (read > 0) return static_cast<ssize_t>(read);
  return queue.done.empty() || count == 0 ? -FI_EAGAIN : -FI_EAVAIL;
}

ssize_t read_error(fid_cq* object, fi_cq_err_entry* entry, uint64_t /*flags*/) {
  auto& queue = *static_cast<CompletionQueue*>(object);
  const std::lock_guard lock(queue.network->mutex);
  if (queue.done.empty() || queue.done.front().error == 0) return -FI_EAGAIN;
  entry->op_context = queue.done.front().context;
  entry->err = queue.done.front().error;
  queue.done.pop_front();
  return 1;
}

const char* no_words(fid_cq*, int, const void*, char*, size_t) { return nullptr; }

template <typename Base, typename Object = Base>
int delete_object(fid* object) {
  delete static_cast<Object*>(reinterpret_cast<Base*>(object));
  return 0;
}

int insert_addresses(fid_av* /*table*/, const void* addresses, size_t count, fi_addr_t* found,
                     uint64_t /*flags*/, void* /*context*/) {
  std::memcpy(found, addresses, count * sizeof *found);
  return static_cast<int>(count);
}

// A table with its size and what `fill` sets in it.
template <typename Table, typename Fill>
Table make_table(const Fill& fill) {
  Table table{};
  table.size = sizeof table;
  fill(table);
  return table;
}

template <typename Base, typename Object = Base>
fi_ops* deleting() {
  static auto table =
      make_table<fi_ops>([](fi_ops& to) { to.close = delete_object<Base, Object>; });
  return &table;
}

fi_ops endpoint_table = make_table<fi_ops>([](fi_ops& to) {
  to.close = close_endpoint;
  to.bind = bind_endpoint;
  to.control = [](fid*, int, void*) { return 0; };
});
fi_ops_ep cancel_table = make_table<fi_ops_ep>([](fi_ops_ep& to) { to.cancel = cancel_receive; });
fi_ops_cm name_table = make_table<fi_ops_cm>([](fi_ops_cm& to) { to.getname = name_of_endpoint; });
fi_ops_msg frame_table = make_table<fi_ops_msg>([](fi_ops_msg& to) {
  to.send = [](fid_ep* endpoint, const void* data, size_t bytes, void*, fi_addr_t peer,
               void* context) { return post_send(endpoint, data, bytes, peer, {}, context); };
  to.recv = [](fid_ep* endpoint, void* memory, size_t room, void*, fi_addr_t, void* context) {
    return post_receive(endpoint, memory, room, {}, context);
  };
});
fi_ops_tagged tagged_table = make_table<fi_ops_tagged>([](fi_ops_tagged& to) {
  to.send = [](fid_ep* endpoint, const void* data, size_t bytes, void*, fi_addr_t peer,
               uint64_t tag, void* context) {
    return post_send(endpoint, data, bytes, peer, {true, tag}, context);
  };
  to.recv = [](fid_ep* endpoint, void* memory, size_t room, void*, fi_addr_t, uint64_t tag,
               uint64_t, void* context) {
    return post_receive(endpoint, memory, room, {true, tag}, context);
  };
});
fi_ops_cq queue_table = make_table<fi_ops_cq>([](fi_ops_cq& to) {
  to.read = read_queue;
  to.readerr = read_error;
  to.strerror = no_words;
});
fi_ops_av address_table =
    make_table<fi_ops_av>([](fi_ops_av& to) { to.insert = insert_addresses; });

Domain& domain_of(fid_domain* domain) { return *static_cast<Domain*>(domain); }
Network& network_of(fid_domain* domain) { return *domain_of(domain).network; }

int open_endpoint(fid_domain* domain, fi_info* /*info*/, fid_ep** made, void* /*context*/) {
  auto* wire = new DataConnection;
  wire->fid.ops = &endpoint_table;
  wire->ops = &cancel_table;
  wire->cm = &name_table;
  wire->msg = &frame_table;
  wire->tagged = &tagged_table;
  wire->network = &network_of(domain);
  wire->nic = domain_of(domain).nic;
  const std::lock_guard lock(wire->network->mutex);
  wire->number = wire->network->wires.size();
  wire->network->wires.push_back(wire);
  *made = wire;
  return 0;
}

int open_queue(fid_domain* domain, fi_cq_attr* /*attributes*/, fid_cq** made, void* /*context*/) {
  auto* queue = new CompletionQueue;
  queue->fid.ops = deleting<fid_cq, CompletionQueue>();
  queue->ops = &queue_table;
  queue->network = &network_of(domain);
  *made = queue;
  return 0;
}

int open_addresses(fid_domain* /*domain*/, fi_av_attr* /*attributes*/, fid_av** made,
                   void* /*context*/) {
  *made = new fid_av{};
  (*made)->fid.ops = deleting<fid_av>();
  (*made)->ops = &address_table;
  return 0;
}

fi_ops_domain domain_table = make_table<fi_ops_domain>([](fi_ops_domain& to) {
  to.av_open = open_addresses;
  to.cq_open = open_queue;
  to.endpoint = open_endpoint;
});

constexpr std::string_view kNic = "memory";  // and its number

int open_domain(fid_fabric* /*fabric*/, fi_info* info, fid_domain** made, void* /*context*/) {
  auto* domain = new Domain;
  domain->fid.ops = deleting<fid_domain, Domain>();
  domain->ops = &domain_table;
  domain->network = the_network.load();
  domain->nic = strtoul(info->domain_attr->name + kNic.size(), nullptr, 10);
  *made = domain;
  return 0;
}

fi_ops_fabric fabric_table =
    make_table<fi_ops_fabric>([](fi_ops_fabric& to) { to.domain = open_domain; });

int open_fabric(fi_fabric_attr* /*attributes*/, fid_fabric** made, void* /*context*/) {
  *made = new fid_fabric{};
  (*made)->fid.ops = deleting<fid_fabric>();
  (*made)->ops = &fabric_table;
  return 0;
}

// ---- the functions that libfabric exports ------------------------------------------------------

constexpr const char* kName = "loopback";

struct Described : fi_info {
  fi_tx_attr sends{};
  fi_rx_attr receives{};
  fi_ep_attr endpoint{};
  fi_domain_attr in_domain{};
  fi_fabric_attr in_fabric{};
};

char* copy_of(const char* text) { return text != nullptr ? strdup(text) : nullptr; }

fi_info* copy_info(const fi_info* info) {
  auto* made = new Described{};
  if (info != nullptr) {
    static_cast<fi_info&>(*made) = *info;
    made->sends = *info->tx_attr;
    made->receives = *info->rx_attr;
    made->endpoint = *info->ep_attr;
    made->in_domain = *info->domain_attr;
    made->in_fabric = *info->fabric_attr;
  }
  made->next = nullptr;
  made->tx_attr = &made->sends;
  made->rx_attr = &made->receives;
  made->ep_attr = &made->endpoint;
  made->domain_attr = &made->in_domain;
  made->fabric_attr = &made->in_fabric;
  for (char** text : {&made->in_domain.name, &made->in_fabric.name, &made->in_fabric.prov_name}) {
    *text = copy_of(*text);
  }
  return made;
}

void free_info(fi_info* info) {
  while (info != nullptr) {
    auto* made = static_cast<Described*>(info);
    info = info->next;
    for (char* text : {made->in_domain.name, made->in_fabric.name, made->in_fabric.prov_name}) {
      free(text);
    }
    delete made;
  }
}

int get_info(uint32_t /*version*/, const char* /*node*/, const char* /*service*/,
             uint64_t /*flags*/, const fi_info* hints, fi_info** made) {
  const char* wanted = hints != nullptr ? hints->fabric_attr->prov_name : nullptr;
  if (wanted != nullptr && std::strcmp(wanted, kName) != 0) return -FI_ENODATA;
  const Weather& weather = the_network.load()->weather;
  *made = nullptr;
  for (uint32_t nic = weather.nics; nic-- > 0;) {
    auto* info = static_cast<Described*>(copy_info(nullptr));
    const std::string name = std::string(kNic) + std::to_string(nic);
    info->addr_format = FI_ADDR_STR;
    info->sends.size = info->receives.size = weather.depth;
    info->in_domain.name = copy_of(name.c_str());
    info->in_fabric.name = copy_of(name.c_str());
    info->in_fabric.prov_name = copy_of(kName);
    info->next = *made;
    *made = info;
  }
  return 0;
}

const char* error_text(int number) {
  const char* text = strerrordesc_np(number);  // libfabric's first numbers are the system's
  return text != nullptr ? text : "an error of libfabric";
}

}  // namespace

const tutti::Result<tutti::ofi::Library>& library_over(Network* network) {
  the_network = network;
  static const tutti::Result<tutti::ofi::Library> library = [] {
    tutti::ofi::Library made;
    made.getinfo = get_info;
    made.freeinfo = free_info;
    made.dupinfo = copy_info;
    made.fabric = open_fabric;
    made.strerror = error_text;
    made.version = []() -> uint32_t { return FI_VERSION(1, 17); };
    return made;
  }();
  return library;
}

}  // namespace tutti_test::loopback
