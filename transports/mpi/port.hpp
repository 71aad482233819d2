// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A port over a communicator of MPI. Its tags are few, so channels share them: tag 0 of a channel
// has the frames, the others the pieces.
#pragma once

#include <memory>
#include <string>

#include "transports/frames/port.hpp"
#include "transports/mpi/world.hpp"

namespace tutti::mpi {

class MpiPort final : public frames::Port {
 public:
  // Port `channel` of `channels`.
  static Result<std::unique_ptr<MpiPort>> open(std::shared_ptr<Group> group, int channel,
                                               int channels);
  ~MpiPort() override { close(); }

  [[nodiscard]] const std::string& where() const override;
  [[nodiscard]] size_t most_receives() const override;
  frames::PostOutcome post(frames::PortRequest& request) override;
  void cancel(frames::PortRequest& request) override;
  ptrdiff_t poll(std::span<frames::PortCompletion> ended) override;
  [[nodiscard]] Status error() const override { return error_; }
  // May take a second if a peer does not go on with what it has begun.
  void close() override;
  [[nodiscard]] bool closed() const override { return requests_ == nullptr; }

 private:
  MpiPort(std::shared_ptr<Group> group, void* requests, int channel, int channels)
      : group_(std::move(group)), requests_(requests), channel_(channel), channels_(channels) {}
  int begin(frames::PortRequest& request, int tag);
  [[nodiscard]] int tag_of(const frames::PortRequest& request) const;
  bool drain(int64_t deadline_ms);

  std::shared_ptr<Group> group_;
  void* requests_;
  const int channel_;
  const int channels_;
  Status error_;
};

}  // namespace tutti::mpi
