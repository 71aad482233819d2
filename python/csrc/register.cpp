// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The Python module tutti_ccl._C.
#include <pthread.h>
#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "direct.hpp"
#include "future_pool.hpp"
#include "futures.hpp"
#include "interrupt.hpp"
#include "job.hpp"
#include "memory.hpp"
#include "named_groups.hpp"
#include "process_group.hpp"

namespace {

using Milliseconds = std::chrono::milliseconds;

// Without `global_ranks` it is the group of all ranks. `reconfigurable`: it has no members until
// its reconfigure(). `apart`: its ranks are not all of the default group.
c10::intrusive_ptr<c10d::Backend> create_backend(const c10::intrusive_ptr<c10d::Store>& store,
                                                 int rank, int size, Milliseconds timeout,
                                                 const std::string& name,
                                                 const std::vector<int>& global_ranks,
                                                 bool is_default, bool reconfigurable, bool apart) {
  using tutti_torch::ProcessGroupTutti;
  tutti_torch::look_for_signals();
  tutti_torch::GroupInfo info{name, global_ranks,
                              is_default || apart ? nullptr : tutti_torch::default_communicator(),
                              nullptr};
  if (reconfigurable) {
    return c10::make_intrusive<ProcessGroupTutti>(ProcessGroupTutti::Unconfigured{}, store, rank,
                                                  size, timeout, std::move(info), is_default);
  }
  return c10::make_intrusive<ProcessGroupTutti>(store, rank, size, timeout, std::move(info),
                                                is_default);
}

// For the exit of the interpreter: after this nothing of ours needs Python. With a reason peers are
// told that instead of that this rank has left.
void stop(Milliseconds grace, const std::string& reason) {
  tutti_torch::FlightRecorder::stop();
  if (!reason.empty()) tutti_torch::Communicator::abort_all(reason);
  tutti_torch::Communicator::close_all(grace);
  tutti_torch::FuturePool::instance().stop(grace);
}

void forked_child() {
  tutti_torch::Owner::forks.fetch_add(1, std::memory_order_relaxed);
  tutti_torch::Communicator::forget_all();
  tutti_torch::FuturePool::forget();
}

}  // namespace

PYBIND11_MODULE(_C, module) {
  module.doc() = "The ccl backend of torch.distributed; use it through tutti_ccl.torch.";
  pthread_atfork(nullptr, nullptr, &forked_child);
  tutti_torch::bind_futures(module);
  // Both wait for other processes or threads, which may need the interpreter.
  module.def("create_backend", &create_backend, py::call_guard<py::gil_scoped_release>(),
             py::arg("store"), py::arg("rank"), py::arg("size"), py::arg("timeout"),
             py::arg("name"), py::arg("global_ranks") = std::vector<int>{},
             py::arg("is_default") = false, py::arg("reconfigurable") = false,
             py::arg("apart") = false);
  py::class_<tutti_torch::Job>(module, "Job", "All processes that the launcher started.")
      .def(py::init<Milliseconds>(), py::call_guard<py::gil_scoped_release>(), py::arg("timeout"))
      .def_property_readonly("rank", &tutti_torch::Job::rank)
      .def_property_readonly("size", &tutti_torch::Job::size)
      .def("share", [](tutti_torch::Job& job, const std::string& text) {
        std::string shared;
        {
          const py::gil_scoped_release released;
          shared = job.share(text);
        }
        return py::bytes(shared);
      });
  module.def("stop", &stop, py::call_guard<py::gil_scoped_release>(), py::arg("grace"),
             py::arg("reason"));
  module.def("dump_flight_recorder", &tutti_torch::FlightRecorder::dump,
             py::call_guard<py::gil_scoped_release>());
  // Waits for the turn of a thread that may need the interpreter.
  module.def(
      "empty",
      [](const std::vector<int64_t>& sizes, at::ScalarType type, const std::string& group) {
        return tutti_torch::empty(tutti_torch::group_named(group), sizes, type);
      },
      py::call_guard<py::gil_scoped_release>(), py::arg("sizes"), py::arg("dtype"),
      py::arg("group_name"));
  if (tutti_torch::add_direct_functions(module.ptr()) != 0) throw py::error_already_set();
}
