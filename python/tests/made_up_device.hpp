// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a device that is made up for tests needs of PyTorch, whichever it is: tensors in its memory,
// and arithmetic on the CPU.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <optional>

namespace made_up {

// There is one device, with one stream.
template <c10::DeviceType kType>
struct Guard : c10::impl::NoOpDeviceGuardImpl<kType> {
  static c10::Device zero() { return {kType, 0}; }
  c10::Device exchangeDevice(c10::Device) const override { return zero(); }
  c10::Device getDevice() const override { return zero(); }
  c10::Stream getStream(c10::Device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, zero());
  }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return getStream(zero()); }
};

// `memory()` gives the device's allocator; `copy` copies between tensors of it and of the CPU.
template <c10::DispatchKey kKey, auto memory, auto copy>
struct Tensors {
  using Tensor = at::Tensor;
  using Type = std::optional<at::ScalarType>;

  static Tensor made(at::IntArrayRef sizes, Type type) {
    const auto dtype = c10::scalarTypeToTypeMeta(type.value_or(at::kFloat));
    const int64_t elements = c10::multiply_integers(sizes);
    auto storage = c10::make_intrusive<c10::StorageImpl>(
        c10::StorageImpl::use_byte_size_t(), elements * static_cast<int64_t>(dtype.itemsize()),
        &memory(), /*resizable=*/true);
    Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(std::move(storage),
                                                             c10::DispatchKeySet(kKey), dtype);
    tensor.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
    return tensor;
  }

  static Tensor empty(at::IntArrayRef sizes, Type type, std::optional<at::Layout>,
                      std::optional<at::Device>, std::optional<bool>,
                      std::optional<at::MemoryFormat>) {
    return made(sizes, type);
  }

  static Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides, Type type,
                              std::optional<at::Layout>, std::optional<at::Device>,
                              std::optional<bool>) {
    int64_t elements = 1;
    for (size_t i = 0; i < sizes.size(); ++i) elements += (sizes[i] - 1) * strides[i];
    const bool none = c10::multiply_integers(sizes) == 0;
    return at::native::as_strided_tensorimpl(made({none ? 0 : elements}, type), sizes, strides, 0);
  }

  static const Tensor& resize(const Tensor& tensor, at::IntArrayRef sizes,
                              std::optional<at::MemoryFormat>) {
    if (tensor.sizes() == sizes) return tensor;
    c10::TensorImpl* const impl = tensor.unsafeGetTensorImpl();
    impl->set_storage_keep_dtype(made(sizes, tensor.scalar_type()).storage());
    impl->set_sizes_contiguous(sizes);
    return tensor;
  }

  static Tensor copy_from_and_resize(const Tensor& from, const Tensor& to) {
    Tensor target = resize(to, from.sizes(), std::nullopt);
    return copy(target, from, false);
  }

  static void implement(torch::Library& library) {
    library.impl("empty.memory_format", &empty);
    library.impl("empty_strided", &empty_strided);
    library.impl("as_strided", at::native::as_strided_tensorimpl);
    library.impl("view", at::native::view);
    library.impl("view_as_real", at::native::view_as_real);
    library.impl("resize_", &resize);
    library.impl("copy_", copy);
    library.impl("_copy_from_and_resize", &copy_from_and_resize);
  }
};

}  // namespace made_up
