// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "futures.hpp"

#include <torch/csrc/jit/python/pybind_utils.h>

#include <memory>

#include "callbacks.hpp"
#include "coalescing.hpp"

namespace tutti_torch {
namespace {

using torch::jit::PythonFutureWrapper;

// A future whose callbacks, and those of the futures that come of it, run in their queue's order.
// It must not be found by shared_from_this(): pybind11 would need a dynamic_cast from its base,
// which has no virtual functions. The second base makes that ambiguous.
struct OrderedFuture final : PythonFutureWrapper, std::enable_shared_from_this<OrderedFuture> {
  OrderedFuture(CallbackQueue::FuturePtr future, std::shared_ptr<CallbackQueue> queue)
      : PythonFutureWrapper(std::move(future)), queue_(std::move(queue)) {}

  // The callback is attached to a future that nobody but the queue completes, so that it cannot run
  // here and now.
  std::shared_ptr<OrderedFuture> then_in_order(py::function callback) {
    const auto gate = make_gate();
    const auto child = gate->then(std::move(callback));
    queue_->post(fut, gate->fut);
    return std::make_shared<OrderedFuture>(child->fut, queue_);
  }

  void add_done_callback_in_order(py::function callback) {
    const auto gate = make_gate();
    gate->add_done_callback(std::move(callback));
    queue_->post(fut, gate->fut);
  }

 private:
  std::shared_ptr<PythonFutureWrapper> make_gate() const {
    return std::make_shared<PythonFutureWrapper>(
        c10::make_intrusive<c10::ivalue::Future>(fut->elementType()));
  }

  const std::shared_ptr<CallbackQueue> queue_;
};

// Torch's own get_future() keeps the interpreter lock, which the thread that settles may need.
CallbackQueue::FuturePtr future_of(CollectiveWork& work) {
  const py::gil_scoped_release release;
  return work.getFuture();
}

// Messages complete in no order, so their callbacks have none.
py::object get_future(CollectiveWork& work) {
  CallbackQueue::FuturePtr future = future_of(work);
  if (!work.callbacks()) return py::cast(std::make_shared<PythonFutureWrapper>(std::move(future)));
  return py::cast(std::make_shared<OrderedFuture>(std::move(future), work.callbacks()));
}

// Python is given the class of what a handle is, so each class is named.
template <typename Class>
void bind_work(py::module& module, const char* name) {
  py::class_<Class, c10d::Work, c10::intrusive_ptr<Class>>(module, name)
      .def("get_future", [](Class& work) { return get_future(work); });
}

}  // namespace

void bind_futures(py::module& module) {
  py::module::import("torch._C._distributed_c10d");  // the base classes
  py::class_<OrderedFuture, PythonFutureWrapper, std::shared_ptr<OrderedFuture>>(module, "Future")
      .def("then", &OrderedFuture::then_in_order)
      .def("add_done_callback", &OrderedFuture::add_done_callback_in_order);
  bind_work<RequestWork>(module, "Work");
  bind_work<CoalescedWork>(module, "CoalescedWork");
}

}  // namespace tutti_torch
