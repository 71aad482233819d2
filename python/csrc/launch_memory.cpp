// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The memory of an operation's tensors, and the copies made for it. Tensors on devices that it does
// not run on are copied, too: the library is given host memory. Such copies are complete when they
// return. Those on a device that it runs on are ordered by the device's stream: the call begins
// after what is there.
#include <ATen/EmptyTensor.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <cstring>

#include "checks.hpp"
#include "error.hpp"
#include "launch.hpp"
#include "sycl_queues.hpp"

namespace tutti_torch {
namespace {

// A conjugated or negated view has the memory of its base, not its own values.
bool has_dense_values(const at::Tensor& tensor) {
  return tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg();
}

void refuse(const char* title, const at::Tensor& tensor) {
  C10_THROW_ERROR(NotImplementedError, std::string(title) + ": expected a strided tensor, got " +
                                           tensor.toString() + " on " + tensor.device().str());
}

// Work in the device's queue may still write to a tensor that an operation is to write to.
void await_device(const at::Tensor& tensor) {
  if (tensor.device().is_cpu()) return;
  const c10::impl::VirtualGuardImpl device(tensor.device().type());
  device.synchronizeStream(device.getStream(tensor.device()));
}

// Dense values into a dense tensor of one dimension, from there on.
void put(const at::Tensor& values, const at::Tensor& all, int64_t begin) {
  if (values.numel() == 0) return;
  if (all.device().is_cpu()) {
    auto* const to = static_cast<std::byte*>(all.data_ptr()) + begin * all.itemsize();
    std::memcpy(to, values.const_data_ptr(), values.nbytes());
  } else {
    const at::NoGradGuard no_grad;
    all.narrow(0, begin, values.numel()).copy_(values.detach().view(-1));
  }
}

}  // namespace

bool Launch::runs_on(c10::Device device) {
  if (device_) return *device_ == device;
  if (!sycl_queues::are_on(device) || !stream_.communicator->has_views()) return false;
  device_ = device;
  return true;
}

bool Launch::dense(const at::Tensor& tensor) {
  if (tensor.layout() != at::kStrided || tensor.is_meta()) refuse(kind_.title, tensor);
  if (tensor.device().is_cpu() || runs_on(tensor.device())) return has_dense_values(tensor);
  TORCH_WARN_ONCE("ccl: tensors on ", tensor.device().type(),
                  " go through host memory, with a copy before and after each call");
  return false;
}

// In PyTorch any byte but 0 is true, and views of other types give such bytes; a reduction needs 1.
bool Launch::readable(const at::Tensor& tensor) {
  if (!dense(tensor)) return false;
  if (!reduces_bools_) return true;
  if (!tensor.device().is_cpu()) return false;
  const auto* byte = static_cast<const uint8_t*>(tensor.const_data_ptr());
  return std::all_of(byte, byte + tensor.nbytes(), [](uint8_t value) { return value <= 1; });
}

// The caller holds its tensors during a blocking call.
void Launch::hold_callers(const at::Tensor& tensor) {
  if (work_) work_->keep(tensor);
}

at::Tensor Launch::hold(at::Tensor tensor) {
  if (work_) {
    work_->keep(tensor);
  } else {
    kept_.push_back(tensor);
  }
  return tensor;
}

at::Tensor Launch::dense_copy(const at::Tensor& tensor) const {
  const at::NoGradGuard no_grad;
  const at::Tensor here = device_ ? tensor.detach() : tensor.detach().to(at::kCPU);
  const at::Tensor values = here.resolve_conj().resolve_neg().contiguous();
  return reduces_bools_ ? values.view(at::kByte).ne(0) : values;
}

at::Tensor Launch::staged(const at::Tensor& tensor) { return hold(dense_copy(tensor)); }

const void* Launch::input(const at::Tensor& tensor) {
  if (!readable(tensor)) return staged(tensor).const_data_ptr();
  hold_callers(tensor);
  return tensor.const_data_ptr();
}

void* Launch::output(const at::Tensor& tensor) {
  if (!dense(tensor)) {
    check_places(kind_.title, tensor);
    if (!device_) await_device(tensor);
    const at::Tensor temporary = scratch(tensor.numel(), tensor.scalar_type());
    copies_.push_back({tensor, temporary, 0});
    return temporary.data_ptr();
  }
  hold_callers(tensor);
  return tensor.data_ptr();
}

void* Launch::in_out(const at::Tensor& tensor) {
  if (!readable(tensor)) {
    check_places(kind_.title, tensor);
    const at::Tensor temporary = staged(tensor);
    copies_.push_back({tensor, temporary.view(-1), 0});
    return temporary.data_ptr();
  }
  hold_callers(tensor);
  return tensor.data_ptr();
}

bool Launch::joined(const std::vector<at::Tensor>& blocks, std::byte*& where) {
  where = nullptr;
  std::byte* next = nullptr;
  for (const at::Tensor& block : blocks) {
    if (!dense(block)) return false;
    if (block.numel() == 0) continue;
    auto* memory = static_cast<std::byte*>(block.data_ptr());
    if (where == nullptr) where = next = memory;
    if (memory != next) return false;
    next += block.nbytes();
  }
  for (const at::Tensor& block : blocks) hold_callers(block);
  return true;
}

const void* Launch::input(const std::vector<at::Tensor>& blocks) {
  std::byte* where = nullptr;
  const bool as_they_are = std::all_of(blocks.begin(), blocks.end(),
                                       [this](const at::Tensor& block) { return readable(block); });
  if (as_they_are && joined(blocks, where)) return where;
  const at::Tensor all = scratch(blocks);
  int64_t begin = 0;
  for (const at::Tensor& block : blocks) {
    put(readable(block) ? block : dense_copy(block), all, begin);
    begin += block.numel();
  }
  return all.const_data_ptr();
}

void* Launch::output(const std::vector<at::Tensor>& blocks) {
  std::byte* where = nullptr;
  if (joined(blocks, where)) return where;
  check_places(kind_.title, blocks);
  const at::Tensor all = scratch(blocks);
  int64_t begin = 0;
  for (const at::Tensor& block : blocks) {
    if (!device_) await_device(block);
    copies_.push_back({block, all, begin});
    begin += block.numel();
  }
  return all.data_ptr();
}

at::Tensor Launch::scratch(const std::vector<at::Tensor>& blocks) {
  int64_t elements = 0;
  for (const at::Tensor& block : blocks) elements += block.numel();
  return scratch(elements, blocks.front().scalar_type());
}

at::Tensor Launch::scratch(int64_t elements, at::ScalarType type) {
  if (!device_) return hold(at::detail::empty_cpu({elements}, type));
  return hold(at::empty({elements}, at::TensorOptions(type).device(*device_)));
}

void Launch::copy_back(const Copies& copies) {
  for (const Copy& copy : copies) {
    const at::Tensor& to = copy.to;
    if (to.numel() == 0) continue;
    if (to.device().is_cpu() && copy.from.device().is_cpu() && has_dense_values(to)) {
      const auto* from = static_cast<const std::byte*>(copy.from.const_data_ptr());
      std::memcpy(to.data_ptr(), from + copy.begin * to.itemsize(), to.nbytes());
    } else {
      const at::NoGradGuard no_grad;
      to.copy_(copy.from.narrow(0, copy.begin, to.numel()).view(to.sizes()));
      // In a stream of this thread: who waits for the call goes on in another.
      if (!copy.from.device().is_cpu()) await_device(copy.from);
    }
  }
}

}  // namespace tutti_torch
