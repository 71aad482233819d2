// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "request.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace tutti_core {

Request::Request(nb::object comm, tutti_request_t request, const char* operation,
                 std::array<Array, 2> arrays)
    : keeper_(std::move(comm)),
      comm_(nb::cast<Communicator&>(keeper_)),
      request_(request),
      operation_(operation),
      arrays_(std::move(arrays)) {
  if (arrays_[0].data() != nullptr) element_bytes_ = tutti_type_size(arrays_[0].type());
  comm_.requests.insert(this);
}

nb::object Request::make(Communicator& comm, tutti_request_t request, const char* operation,
                         std::array<Array, 2> arrays) {
  if (!comm.orphans.empty()) comm.sweep();
  auto* made = new Request(nb::find(comm), request, operation, std::move(arrays));
  return nb::cast(made, nb::rv_policy::take_ownership);
}

nb::object Request::make_complete(Communicator& comm, const char* operation,
                                  std::optional<tutti_recv_info> received) {
  auto* made = new Request(nb::find(comm), nullptr, operation, {});
  made->done_ = true;
  made->received_ = received;
  return nb::cast(made, nb::rv_policy::take_ownership);
}

Request::~Request() {
  comm_.requests.erase(this);
  if (request_ == nullptr) return;
  if (done_) {
    tutti_request_free(request_);
  } else {
    comm_.orphans.push_back({request_, std::move(arrays_)});
  }
}

void Request::end() {
  comm_.requests.erase(this);
  if (!done_) {
    const auto status = without_lock([&] { return tutti_request_wait(request_); });
    const nb::error_scope raised;  // by a signal: it is the caller's
    complete(status);
  }
  if (request_ != nullptr) tutti_request_free(std::exchange(request_, nullptr));
}

void Request::complete(tutti_status status) {
  if (done_) return;  // another thread has seen it
  done_ = true;
  if (status != TUTTI_OK || PyErr_Occurred() != nullptr) {
    failure_ = exception_of(status, operation_, comm_.rank);
  } else if (std::strcmp(operation_, "Irecv") == 0) {
    tutti_recv_info info;
    if (tutti_request_recv_info(request_, &info) == TUTTI_OK) received_ = info;
  }
  arrays_ = {};
}

// A wait that is not allowed, in the request's own group say, completes nothing.
void Request::settle(tutti_status status) {
  if (status == TUTTI_ERR_INVALID_USAGE) check(status, operation_, comm_.rank);
  complete(status);
}

nb::object Request::result() {
  seen_ = true;
  if (failure_.is_valid()) {
    PyErr_SetObject(failure_.type().ptr(), failure_.ptr());
    throw nb::python_error();
  }
  return received_ ? nb::cast(*received_) : nb::none();
}

void Request::tell(nb::handle status) const {
  if (!status.is_none() && received_) status.attr("_take")(nb::cast(*received_), element_bytes_);
}

bool Request::wait_for_status(nb::handle status) {
  wait(nb::none());
  tell(status);
  return true;
}

bool Request::test_for_status(nb::handle status) {
  if (!test()) return false;
  tell(status);
  return true;
}

nb::object Request::wait(nb::handle given) {
  const auto timeout = maybe_seconds_of(given, {"wait", "timeout"});
  if (done_) return result();
  const Use use(comm_, operation_, false);
  if (!timeout) {
    settle(without_lock([&] { return tutti_request_wait(request_); }));
    return result();
  }
  const int most = milliseconds(timeout, 0, "wait");
  const auto status = without_lock([&] { return tutti_request_wait_for(request_, most); });
  int over = 1;
  if (status == TUTTI_ERR_TIMEOUT) {
    // A wait that was too short, or an operation that has timed out.
    const nb::str text(tutti_last_error());
    const auto now = without_lock([&] { return tutti_request_test(request_, &over); });
    if (over == 0 || PyErr_Occurred() != nullptr) {
      check(PyErr_Occurred() != nullptr ? now : status, operation_, comm_.rank);
    }
    settle(now);
    return result();
  }
  settle(status);
  return result();
}

bool Request::test() {
  if (!done_) {
    const Use use(comm_, operation_, false);
    int over = 0;
    const auto status = without_lock([&] { return tutti_request_test(request_, &over); });
    if (over == 0) {
      check(status, operation_, comm_.rank);
      return false;
    }
    settle(status);
  }
  result();
  return true;
}

int milliseconds(std::optional<double> seconds, int none, const char* operation) {
  if (!seconds) return none;
  const double wanted = std::ceil(*seconds * 1000);
  if (!(wanted >= 0) || wanted > std::numeric_limits<int>::max()) {
    raise_value(std::string(operation) + ": the timeout is " + std::to_string(*seconds) +
                " s; expected from 0 to 2147483 s");
  }
  return static_cast<int>(wanted);
}

nb::class_<Request> add_requests(nb::module_& module) {
  nb::class_<tutti_recv_info>(module, "Message")
      .def_ro("source", &tutti_recv_info::source)
      .def_ro("tag", &tutti_recv_info::tag)
      .def_ro("count", &tutti_recv_info::count)
      .def("__repr__", [](const tutti_recv_info& info) {
        return nb::str("Message(source={}, tag={}, count={})")
            .format(info.source, info.tag, info.count);
      });
  nb::class_<Request> type(module, "Request");
  type.def_prop_ro("_seen", &Request::seen)
      .def("__bool__", [](const Request& self) { return !self.seen(); })
      .def("__getattr__",
           [](nb::handle self, nb::handle name) -> nb::object {
             const nb::object error =
                 nb::module_::import_("tutti_ccl.forms")
                     .attr("absent")("Request", name, nb::steal(PyObject_Dir(self.type().ptr())));
             PyErr_SetObject(PyExc_AttributeError, error.ptr());
             throw nb::python_error();
           })
      .def("wait", &Request::wait, any("timeout") = nb::none())
      .def("test", &Request::test)
      .def("Wait", &Request::wait_for_status, any("status") = nb::none())
      .def("Test", &Request::test_for_status, any("status") = nb::none());
  return type;
}

}  // namespace tutti_core
