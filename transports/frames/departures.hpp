// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which ranks leave a channel, and who has to be told that this one does. A rank tells those that
// it has dealt with, over the connections that they have. To tell all would connect every two ranks
// at the end of a communicator, most of them for the first time (docs/scale.md).
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace tutti::frames {

class Departures {
 public:
  // `tells_all`: the network does not say that nobody is there, so all are told.
  Departures(int rank, int ranks, bool tells_all)
      : rank_(rank), tells_all_(tells_all), peers_(static_cast<size_t>(ranks)) {}

  // ---- this rank
  // This rank leaves: it owes the word to all that it deals with, now or later.
  void leave(std::span<const std::byte> last_words) {
    last_words_.assign(last_words.begin(), last_words.end());
    leaves_ = true;
    for (int r = 0; r < ranks(); ++r) at(r).owes_word = r != rank_ && deals_with(r);
  }
  [[nodiscard]] bool leaves() const { return leaves_; }
  [[nodiscard]] bool tells_all() const { return tells_all_; }
  [[nodiscard]] bool deals_with(int rank) const { return tells_all_ || at(rank).dealt; }
  void deal_with(int rank) { at(rank).dealt = true; }
  // Something has come from that peer. Whether it is owed the word from now on.
  bool hear_from(int rank) {
    if (std::exchange(at(rank).dealt, true) || !leaves_) return false;
    return at(rank).owes_word = true;
  }
  [[nodiscard]] bool owes_word(int rank) const { return at(rank).owes_word; }
  void word_sent(int rank) { at(rank).owes_word = false; }
  [[nodiscard]] const std::vector<std::byte>& last_words() const { return last_words_; }

  // ---- others
  void note_last_words(int rank, std::span<const std::byte> words) {
    at(rank).last_words.assign(words.begin(), words.end());
  }
  [[nodiscard]] std::span<const std::byte> last_words_of(int rank) const {
    return at(rank).last_words;
  }

 private:
  struct Peer {
    bool dealt = false;      // this rank has sent it something or had something from it
    bool owes_word = false;  // this rank has yet to tell it that it leaves
    std::vector<std::byte> last_words;
  };
  [[nodiscard]] int ranks() const { return static_cast<int>(peers_.size()); }
  Peer& at(int rank) { return peers_[static_cast<size_t>(rank)]; }
  [[nodiscard]] const Peer& at(int rank) const { return peers_[static_cast<size_t>(rank)]; }

  const int rank_;
  const bool tells_all_;
  bool leaves_ = false;
  std::vector<std::byte> last_words_;
  std::vector<Peer> peers_;
};

}  // namespace tutti::frames
