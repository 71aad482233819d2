// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Who gets the parts of a round how. Where it pays they go once to each host: to a leader, which
// places them where the others there find them (parts_file.hpp). All that anybody waits for is told
// by the service still, so deaths, deadlines and errors are as without.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <vector>

#include "bootstrap/client.hpp"

namespace tutti::bootstrap {

// How many bytes of a round must be saved for it to go once to each host: leaders take one more
// message to the service and back, which is the time of some 100 KB on a fast line.
inline constexpr size_t kLeastSaved = 1 << 20;

// Ranks of one host that has a leader.
struct Housemates {
  std::vector<Client*> others;  // without the leader, and those that are gone
  bool able = true;             // the leader can have a file
};

class Leaders {
 public:
  explicit Leaders(size_t least_saved) : least_saved_(least_saved) {}

  // All ranks are there. The first that came of each host leads, but no rank of this process: it
  // is told last of all, as it may end the service (Meeting::may_write).
  void choose(std::list<Client>& clients);
  // Says by Client::way and Client::placing how each gets them.
  void hand_out(std::list<Client>& clients, Bodies packed);
  // A leader has the parts, and says where. Without a body it can have no file, and its host goes
  // without from now on. False: it is nonsense.
  bool place(Client& leader, std::span<const std::byte> body);
  // It goes; those that wait for it get the parts from the service.
  void leave(Client& client);
  // To one that was told of a place, and cannot have them there. Nor would it the next time.
  static void send_instead(Client& client);
  static void forget(Client& client);

 private:
  [[nodiscard]] bool pays(const std::list<Client>& clients, size_t bytes) const;
  void placed(Client& leader, const FilePlace* file);

  const size_t least_saved_;
  std::map<uint64_t, Housemates> houses_;  // by their host's mark; a map: clients point there
  PartsHash hash_{};                       // of the last round that went to leaders
};

}  // namespace tutti::bootstrap
