// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Several ports as one, each a rail of it: interfaces of this rank that carry side by side. The
// endpoint says which rail each request takes (PortRequest::rail).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transports/frames/port.hpp"

namespace tutti::frames {

class RailsPort final : public Port {
 public:
  // `rails`: at least one. The i-th reaches the i-th of every peer.
  explicit RailsPort(std::vector<std::unique_ptr<Port>> rails);

  [[nodiscard]] const std::string& where() const override { return where_; }
  [[nodiscard]] uint32_t rails() const override { return static_cast<uint32_t>(rails_.size()); }
  [[nodiscard]] const std::string& where_rail(uint32_t rail) const override {
    return rails_[rail]->where();
  }
  [[nodiscard]] bool tells_of_breaks() const override;
  [[nodiscard]] bool refuses() const override;
  void cut(int peer, uint32_t rail) override { rails_[rail]->cut(peer, 0); }
  [[nodiscard]] size_t most_receives() const override;
  PostOutcome post(PortRequest& request) override;
  void cancel(PortRequest& request) override { rails_[request.rail]->cancel(request); }
  // Looks at all rails, beginning with another one whenever there was no room for all.
  ptrdiff_t poll(std::span<PortCompletion> ended) override;
  // Names the rail.
  [[nodiscard]] Status error() const override { return error_; }
  void close() override;
  [[nodiscard]] bool closed() const override { return rails_.front()->closed(); }

 private:
  // A completion that must be reported alone, and came when others had ended already.
  struct Held {
    ptrdiff_t count;
    PortCompletion completion;
    Status error;
  };
  [[nodiscard]] Status error_of(size_t rail) const;

  const std::vector<std::unique_ptr<Port>> rails_;
  const std::string where_;  // "2 rails"
  size_t next_ = 0;          // rail that is looked at first
  std::optional<Held> held_;
  Status error_;
};

}  // namespace tutti::frames
