// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// torch.ops.tutti: collectives as PyTorch operators of their own, without c10d's objects around
// them. They block, take their group by name, and can be compiled. The Meta kernels say what comes
// out, and nothing that goes out shares memory with what came in.
#include "ops.hpp"

#include <ATen/Functions.h>
#include <torch/library.h>

#include "named_groups.hpp"
#include "operations.hpp"

namespace tutti_torch::ops {
namespace {

// Dense whatever the strides of the other, as the Meta kernels promise.
template <typename Sizes>
Tensor dense_with(const Tensor& like, Sizes sizes) {
  return at::empty_symint(sizes, like.options().memory_format(at::MemoryFormat::Contiguous));
}

c10::SymDimVector with_rows(const Tensor& tensor, c10::SymInt rows) {
  const auto sizes = tensor.sym_sizes();
  c10::SymDimVector result(sizes.begin(), sizes.end());
  if (result.empty()) {
    result.push_back(std::move(rows));
  } else {
    result.front() = std::move(rows);
  }
  return result;
}

c10::SymInt rows_of(const Tensor& tensor) {
  return tensor.dim() == 0 ? c10::SymInt(1) : tensor.sym_size(0);
}

// The outputs of the operators, for real tensors and for those without data.

Tensor output_of_all_reduce(const Tensor& input) { return dense_with(input, input.sym_sizes()); }

Tensor output_of_all_gather(const Tensor& input, const Stream& group) {
  return dense_with(input, with_rows(input, rows_of(input) * group.size));
}

Tensor output_of_reduce_scatter(const Tensor& input, const Stream& group) {
  const c10::SymInt rows = rows_of(input);
  TORCH_SYM_CHECK((rows % group.size).sym_eq(0), "tutti:reduce_scatter: the input has ", rows,
                  " rows, expected a multiple of ", group.size, ", the number of ranks");
  return dense_with(input, with_rows(input, rows / group.size));
}

Tensor output_of_all_to_all(const Tensor& input, const SymSplits& output_splits) {
  if (!output_splits || output_splits->empty()) return dense_with(input, input.sym_sizes());
  c10::SymInt rows = 0;
  for (const c10::SymInt& split : *output_splits) rows += split;
  return dense_with(input, with_rows(input, rows));
}

}  // namespace

// ---- with data ---------------------------------------------------------------------------------

void all_reduce_(const Tensor& input, string_view op, string_view group) {
  operations::all_reduce(group_named(group), input, input, op);
}

Tensor all_reduce(const Tensor& input, string_view op, string_view group) {
  const Stream& member = group_named(group);
  Tensor output = output_of_all_reduce(input);
  operations::all_reduce(member, output, input, op);
  return output;
}

void all_gather_into(const Tensor& output, const Tensor& input, string_view group) {
  operations::all_gather(group_named(group), output, input);
}

Tensor all_gather(const Tensor& input, string_view group) {
  const Stream& member = group_named(group);
  Tensor output = output_of_all_gather(input, member);
  operations::all_gather(member, output, input);
  return output;
}

void reduce_scatter_into(const Tensor& output, const Tensor& input, string_view op,
                         string_view group) {
  operations::reduce_scatter(group_named(group), output, input, op);
}

Tensor reduce_scatter(const Tensor& input, string_view op, string_view group) {
  const Stream& member = group_named(group);
  Tensor output = output_of_reduce_scatter(input, member);
  operations::reduce_scatter(member, output, input, op);
  return output;
}

namespace {
operations::Splits plain(const SymSplits& splits) {
  if (!splits) return std::nullopt;
  return C10_AS_INTARRAYREF_SLOW(*splits);
}
}  // namespace

void all_to_all_into(const Tensor& output, const Tensor& input, SymSplits output_splits,
                     SymSplits input_splits, string_view group) {
  operations::all_to_all(group_named(group), output, input, plain(output_splits),
                         plain(input_splits));
}

Tensor all_to_all(const Tensor& input, SymSplits output_splits, SymSplits input_splits,
                  string_view group) {
  const Stream& member = group_named(group);
  Tensor output = output_of_all_to_all(input, output_splits);
  operations::all_to_all(member, output, input, plain(output_splits), plain(input_splits));
  return output;
}

namespace {

// ---- without data ------------------------------------------------------------------------------

void meta_all_reduce_(const Tensor&, string_view, string_view) {}
void meta_all_gather_into(const Tensor&, const Tensor&, string_view) {}
void meta_reduce_scatter_into(const Tensor&, const Tensor&, string_view, string_view) {}
void meta_all_to_all_into(const Tensor&, const Tensor&, SymSplits, SymSplits, string_view) {}

Tensor meta_all_reduce(const Tensor& input, string_view, string_view) {
  return output_of_all_reduce(input);
}
Tensor meta_all_gather(const Tensor& input, string_view group) {
  return output_of_all_gather(input, group_named(group));
}
Tensor meta_reduce_scatter(const Tensor& input, string_view, string_view group) {
  return output_of_reduce_scatter(input, group_named(group));
}
Tensor meta_all_to_all(const Tensor& input, SymSplits output_splits, SymSplits, string_view) {
  return output_of_all_to_all(input, output_splits);
}

// ---- for every device whose tensors have data ---------------------------------------------------

void implement(torch::Library& library) {
  library.impl("all_reduce_", all_reduce_);
  library.impl("all_reduce", all_reduce);
  library.impl("all_gather_into", all_gather_into);
  library.impl("all_gather", all_gather);
  library.impl("reduce_scatter_into", reduce_scatter_into);
  library.impl("reduce_scatter", reduce_scatter);
  library.impl("all_to_all_into", all_to_all_into);
  library.impl("all_to_all", all_to_all);
}

}  // namespace
}  // namespace tutti_torch::ops

// The order of arguments is that of PyTorch's own functional collectives.
TORCH_LIBRARY(tutti, library) {
  const std::vector<at::Tag> tags = {at::Tag::pt2_compliant_tag};
  for (const char* schema : {
           "all_reduce_(Tensor(a!) input, str reduce_op='sum', str group_name='') -> ()",
           "all_reduce(Tensor input, str reduce_op='sum', str group_name='') -> Tensor",
           "all_gather_into(Tensor(a!) output, Tensor input, str group_name='') -> ()",
           "all_gather(Tensor input, str group_name='') -> Tensor",
           "reduce_scatter_into(Tensor(a!) output, Tensor input, str reduce_op='sum', "
           "str group_name='') -> ()",
           "reduce_scatter(Tensor input, str reduce_op='sum', str group_name='') -> Tensor",
           "all_to_all_into(Tensor(a!) output, Tensor input, SymInt[]? output_split_sizes=None, "
           "SymInt[]? input_split_sizes=None, str group_name='') -> ()",
           "all_to_all(Tensor input, SymInt[]? output_split_sizes=None, "
           "SymInt[]? input_split_sizes=None, str group_name='') -> Tensor",
       }) {
    library.def(schema, tags);
  }
}

TORCH_LIBRARY_IMPL(tutti, CPU, library) { tutti_torch::ops::implement(library); }
TORCH_LIBRARY_IMPL(tutti, XPU, library) { tutti_torch::ops::implement(library); }
TORCH_LIBRARY_IMPL(tutti, PrivateUse1, library) { tutti_torch::ops::implement(library); }

TORCH_LIBRARY_IMPL(tutti, Meta, library) {
  library.impl("all_reduce_", tutti_torch::ops::meta_all_reduce_);
  library.impl("all_reduce", tutti_torch::ops::meta_all_reduce);
  library.impl("all_gather_into", tutti_torch::ops::meta_all_gather_into);
  library.impl("all_gather", tutti_torch::ops::meta_all_gather);
  library.impl("reduce_scatter_into", tutti_torch::ops::meta_reduce_scatter_into);
  library.impl("reduce_scatter", tutti_torch::ops::meta_reduce_scatter);
  library.impl("all_to_all_into", tutti_torch::ops::meta_all_to_all_into);
  library.impl("all_to_all", tutti_torch::ops::meta_all_to_all);
}
