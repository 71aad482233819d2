// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A port over TCP, without a library between. It has one connection per peer, made when first
// needed, which the port's thread reads and writes itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transports/nics/connect.hpp"
#include "transports/tcp/data_connection.hpp"
#include "transports/tcp/listener.hpp"

namespace tutti::tcp {

// The settings of a port's connections.
struct ConnectionSettings {
  bool encrypt = false;      // encrypts, as all its peers do
  bool replaceable = false;  // there are other rails
};

class TcpPort final : public nics::AddressedPort {
 public:
  // `local`: of the interface; `where`: for texts.
  static Result<std::unique_ptr<TcpPort>> open(const NetAddress& local, std::string where, int rank,
                                               ConnectionSettings settings = {});
  ~TcpPort() override;

  [[nodiscard]] const std::string& address() const override { return address_; }
  Status insert(const std::vector<std::string>& addresses) override;

  [[nodiscard]] const std::string& where() const override { return where_; }
  [[nodiscard]] size_t most_receives() const override;
  [[nodiscard]] bool tells_of_breaks() const override { return true; }
  [[nodiscard]] bool refuses() const override { return true; }
  void cut(int rank, uint32_t rail) override;
  frames::PostOutcome post(frames::PortRequest& request) override;
  void cancel(frames::PortRequest& request) override;
  ptrdiff_t poll(std::span<frames::PortCompletion> ended) override;
  [[nodiscard]] Status error() const override { return error_; }
  void close() override;
  [[nodiscard]] bool closed() const override { return closed_; }

 private:
  struct Peer {
    Peer(Inbox& inbox, int rank) : connection(inbox, &until_broken) {
      until_broken.kind = frames::PortRequest::Kind::kConnection;
      until_broken.peer = rank;
    }
    frames::PortRequest until_broken;
    DataConnection connection;
    // A call at its listener that has not been answered yet.
    std::unique_ptr<Introduction> call;
    int refused = 0;  // number of refused calls
  };

  TcpPort(Listener listener, NetAddress local, std::string where, int rank,
          ConnectionSettings settings);
  void call(int rank);
  void dial(int rank);
  void go_on_calling(int rank);
  void give_up(int rank, std::string_view why);
  void call_again(int rank, std::string_view why);
  void take_call(Introduction caller);
  bool watch(int socket, DataConnection* connection);
  void begin(int rank, Introduction& introduction);
  void poll_listener();
  void check_answers();
  bool ask_poller();
  void take_calls();
  [[nodiscard]] bool all_connected() const { return connected_ + 1 == peers_.size(); }
  [[nodiscard]] bool has_few_peers() const;
  // Most ranks of many never need one another.
  Peer& peer(int rank) {
    std::unique_ptr<Peer>& one = peers_[static_cast<size_t>(rank)];
    if (one == nullptr) [[unlikely]]
      one = std::make_unique<Peer>(inbox_, rank);
    return *one;
  }
  [[nodiscard]] const ListenerAddress& listener_of(int rank) const {
    return listeners_[static_cast<size_t>(rank)];
  }

  Listener listener_;
  NetAddress local_;
  const std::string where_;
  const int rank_;
  const ConnectionSettings settings_;
  std::string address_;
  Inbox inbox_;
  std::vector<ListenerAddress> listeners_;    // by rank
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank; null: not dealt with yet
  std::vector<int> calling_;                  // whom this rank is calling
  std::vector<DataConnection*> connections_;  // connections that have been open
  size_t connected_ = 0;                      // peers with which there is or was a connection
  uint32_t polls_ = 0;
  int64_t next_check_ms_ = 0;
  Fd poller_;  // of the listener and the connections, if there are many
  Status error_;
  bool closed_ = false;
};

}  // namespace tutti::tcp
