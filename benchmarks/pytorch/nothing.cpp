// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A backend of torch.distributed that does nothing: what PyTorch itself takes for a call, below
// which no backend can be. Compiled by nothing.py when it is needed.
#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/library.h>

#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace {

using Tensor = at::Tensor;
using Tensors = std::vector<Tensor>;
using Lists = std::vector<Tensors>;
using Work = c10::intrusive_ptr<c10d::Work>;
using Splits = std::vector<int64_t>;

class Nothing final : public c10d::Backend {
 public:
  using Backend::Backend;
  const std::string getBackendName() const override { return "nothing"; }
  void setSequenceNumberForGroup() override {}
  Work broadcast(Tensors&, const c10d::BroadcastOptions&) override { return {}; }
  Work allreduce(Tensors&, const c10d::AllreduceOptions&) override { return {}; }
  Work allgather(Lists&, Tensors&, const c10d::AllgatherOptions&) override { return {}; }
  Work _allgather_base(Tensor&, Tensor&, const c10d::AllgatherOptions&) override { return {}; }
  Work reduce_scatter(Tensors&, Lists&, const c10d::ReduceScatterOptions&) override { return {}; }
  Work _reduce_scatter_base(Tensor&, Tensor&, const c10d::ReduceScatterOptions&) override {
    return {};
  }
  Work alltoall_base(Tensor&, Tensor&, Splits&, Splits&, const c10d::AllToAllOptions&) override {
    return {};
  }
  Work barrier(const c10d::BarrierOptions&) override { return {}; }
};

c10::intrusive_ptr<c10d::Backend> create(const c10::intrusive_ptr<c10d::Store>&, int rank, int size,
                                         const std::chrono::milliseconds&) {
  return c10::make_intrusive<Nothing>(rank, size);
}

// Operators that do nothing: what calling one from Python takes.
void all_reduce_(const Tensor&, std::string_view, std::string_view) {}

}  // namespace

TORCH_LIBRARY(nothing, library) {
  library.def("all_reduce_(Tensor(a!) input, str reduce_op='sum', str group_name='') -> ()");
}
TORCH_LIBRARY_IMPL(nothing, CPU, library) { library.impl("all_reduce_", all_reduce_); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) { module.def("create", &create); }
