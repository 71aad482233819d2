// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The facts that profilers and the flight recorder get about an operation: its group, its place in
// the sequence, and its tensors. An operation pays two loads if neither is on.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "flight_recorder.hpp"
#include "launch.hpp"

namespace tutti_torch {

// Tensors of a call.
struct Operands {
  Operands() = default;
  Operands(const at::Tensor& tensor) : tensors(tensor) {}
  Operands(const std::vector<at::Tensor>& list) : tensors(list) {}
  at::ArrayRef<at::Tensor> tensors;
  bool one = false;  // the blocks of one operand
};
inline Operands blocks(const std::vector<at::Tensor>& list) {
  Operands operand(list);
  operand.one = true;
  return operand;
}

// A call on a group. `peer` is the other rank of a message.
struct Call {
  const Stream& stream;
  const std::string& description;  // of the group, by whoever made it
  Kind kind;
  uint64_t sequence;
  bool async;
  std::chrono::milliseconds timeout;
  Operands inputs;
  Operands outputs;
  std::optional<int> peer;
};

// An operation from the moment in which it is called until it has begun.
class Observation {
 public:
  explicit Observation(const Call& call) : told_(asked() ? tell(call) : nullptr) {}
  // The operation has begun. If no handle was made for it (CollectiveWork), it is complete.
  void end() {
    if (told_) told_->end();
  }
  // The entry in the flight recorder of an operation that this thread begins now, if it has one.
  // Its taker says when it is complete.
  static FlightRecorder::Entry take_entry();
  // Further facts for events of this thread: the group, and the operation's number in it.
  static std::unordered_map<std::string, c10::IValue> facts();

 private:
  class Told {
   public:
    explicit Told(const Call& call);
    ~Told();
    void end();
    FlightRecorder::Entry entry;
    const std::string& group;
    const uint64_t sequence;

   private:
    struct Profiled;
    std::unique_ptr<Profiled> profiled_;
    Told* const outer_;
  };
  struct Forget {
    void operator()(Told* told) const;
  };
  static bool asked() { return FlightRecorder::on() || at::hasCallbacks(); }
  static Told* tell(const Call& call);

  static thread_local Told* current;
  std::unique_ptr<Told, Forget> told_;
};

// A launch that is observed.
class ObservedLaunch : private Observation, public Launch {
 public:
  ObservedLaunch(const Call& call, bool blocking)
      : Observation(call),
        Launch(call.stream, call.kind, blocking, call.timeout, call.sequence,
               call.inputs.tensors.empty() ? call.outputs.tensors : call.inputs.tensors) {}

  template <typename Outputs>
  c10::intrusive_ptr<c10d::Work> finish(const Outputs& outputs) {
    c10::intrusive_ptr<c10d::Work> work = Launch::finish(outputs);
    Observation::end();
    return work;
  }
};

}  // namespace tutti_torch
