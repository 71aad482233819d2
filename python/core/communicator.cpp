// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "communicator.hpp"

#include <nanobind/stl/string.h>

#include <cstring>

#include "call.hpp"
#include "request.hpp"

namespace tutti_core {
namespace {

// The options that tutti_ccl.Communicator hands, in this order, to every function that makes one.
struct Options {
  Options(nb::handle timeout, nb::handle init_timeout, nb::handle given_name, const char* operation)
      : name(maybe_text_of(given_name, {operation, "name"})) {
    config.timeout_ms =
        milliseconds(maybe_seconds_of(timeout, {operation, "timeout"}), -1, operation);
    config.init_timeout_ms =
        milliseconds(maybe_seconds_of(init_timeout, {operation, "init_timeout"}), -1, operation);
    if (name) config.name = name->c_str();
  }
  std::optional<std::string> name;
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
};

using Given = nb::handle;

void expect_unused(const Communicator& comm, const char* operation) {
  if (comm.handle != nullptr) raise_value(std::string(operation) + ": this one is made already");
}

// Takes the handle even if a signal's handler has raised meanwhile.
void take(Communicator& comm, tutti_comm_t handle, tutti_status status, const char* operation,
          int rank) {
  comm.handle = handle;
  if (handle != nullptr) {
    tutti_comm_rank(handle, &comm.rank);
    tutti_comm_size(handle, &comm.size);
  }
  check(status, operation, rank);
}

tutti_unique_id id_in(nb::handle given, const char* operation) {
  if (PyBytes_Check(given.ptr()) == 0) {
    raise_type(std::string(operation) + ": the unique id is " + type_name_of(given) +
               "; expected the 128 bytes of unique_id() in one of the processes");
  }
  const auto bytes = nb::borrow<nb::bytes>(given);
  tutti_unique_id id;
  if (bytes.size() != sizeof id.bytes) {
    raise_value(std::string(operation) + ": the unique id has " + std::to_string(bytes.size()) +
                " bytes; expected the 128 bytes of unique_id() in one of the processes");
  }
  std::memcpy(id.bytes, bytes.c_str(), sizeof id.bytes);
  return id;
}

void create(Communicator& comm, Given id, Given given_rank, Given given_size, Given timeout,
            Given init_timeout, Given name) {
  const int rank = int_of(given_rank, {"create", "rank"});
  const int size = int_of(given_size, {"create", "size"});
  expect_unused(comm, "create");
  const tutti_unique_id unique = id_in(id, "create");
  const Options options(timeout, init_timeout, name, "create");
  tutti_comm_t made = nullptr;
  const auto status =
      without_lock([&] { return tutti_comm_create(&unique, rank, size, &options.config, &made); });
  take(comm, made, status, "create", rank);
}

void create_from_env(Communicator& comm, Given timeout, Given init_timeout, Given name) {
  expect_unused(comm, "from_env");
  const Options options(timeout, init_timeout, name, "from_env");
  tutti_comm_t made = nullptr;
  const auto status =
      without_lock([&] { return tutti_comm_create_from_env(&options.config, &made); });
  take(comm, made, status, "from_env", -1);
}

// Makes `comm` a part of `parent`; false for a rank that gave no color.
bool split(Communicator& comm, Communicator& parent, Given given_color, Given given_key,
           Given timeout, Given init_timeout, Given name) {
  expect_unused(comm, "split");
  const auto color = maybe_int_of(given_color, {"split", "color"});
  const int key = int_of(given_key, {"split", "key"});
  if (color && *color < 0) {
    raise_value("split: color is " + std::to_string(*color) + "; expected 0 or more, or None");
  }
  const Use use(parent, "split", true);
  const Options options(timeout, init_timeout, name, "split");
  tutti_comm_t made = nullptr;
  const auto status = without_lock([&] {
    return tutti_comm_split(parent.handle, color.value_or(TUTTI_NO_COLOR), key, &options.config,
                            &made);
  });
  take(comm, made, status, "split", parent.rank);
  return made != nullptr;
}

void shrink(Communicator& comm, Communicator& parent, Given timeout, Given init_timeout,
            Given name) {
  expect_unused(comm, "shrink");
  const Use use(parent, "shrink", true);
  const Options options(timeout, init_timeout, name, "shrink");
  tutti_comm_t made = nullptr;
  const auto status =
      without_lock([&] { return tutti_comm_shrink(parent.handle, &options.config, &made); });
  take(comm, made, status, "shrink", parent.rank);
}

void grow(Communicator& comm, Communicator& parent, Given id, Given given_newcomers, Given timeout,
          Given init_timeout, Given name) {
  expect_unused(comm, "grow");
  const int newcomers = int_of(given_newcomers, {"grow", "newcomers"});
  const Use use(parent, "grow", true);
  const tutti_unique_id unique = id.is_none() ? tutti_unique_id{} : id_in(id, "grow");
  const Options options(timeout, init_timeout, name, "grow");
  tutti_comm_t made = nullptr;
  const auto status = without_lock([&] {
    return tutti_comm_grow(parent.handle, id.is_none() ? nullptr : &unique, newcomers,
                           &options.config, &made);
  });
  take(comm, made, status, "grow", parent.rank);
}

void join(Communicator& comm, Given id, Given given_newcomer, Given given_newcomers, Given timeout,
          Given init_timeout, Given name) {
  expect_unused(comm, "join");
  const int newcomer = int_of(given_newcomer, {"join", "newcomer"});
  const int newcomers = int_of(given_newcomers, {"join", "newcomers"});
  const tutti_unique_id unique = id_in(id, "join");
  const Options options(timeout, init_timeout, name, "join");
  tutti_comm_t made = nullptr;
  const auto status = without_lock(
      [&] { return tutti_comm_join(&unique, newcomer, newcomers, &options.config, &made); });
  take(comm, made, status, "join", -1);
}

// Requests outlive the handle, so they are ended first. Without it nobody begins anything
// meanwhile.
tutti_status free_handle(Communicator& comm) {
  const tutti_comm_t handle = std::exchange(comm.handle, nullptr);
  while (!comm.requests.empty()) {
    Request* const request = *comm.requests.begin();
    const nb::object kept = nb::find(request);  // other threads may drop theirs
    request->end();
  }
  for (const Orphan& orphan : comm.orphans) {
    without_lock([&] {
      tutti_request_wait(orphan.request);
      return tutti_request_free(orphan.request);
    });
  }
  comm.orphans.clear();
  return without_lock([&] { return tutti_comm_destroy(handle); });
}

void destroy(Communicator& comm) {
  if (comm.handle == nullptr) return;
  if (comm.uses != 0) {
    raise_value(
        "destroy: " + std::to_string(comm.uses) +
        " other threads are in calls on this communicator; expected none (abort ends them)");
  }
  if (is_in_group()) raise_value("destroy: this thread is in a group; expected its end first");
  check(free_handle(comm), "destroy", comm.rank);
}

void abort(Communicator& comm, Given given_reason) {
  const auto reason = maybe_text_of(given_reason, {"abort", "reason"});
  const Use use(comm, "abort", false);
  check(tutti_comm_abort(comm.handle, reason ? reason->c_str() : nullptr), "abort", comm.rank);
}

void set_timeout(Communicator& comm, Given seconds) {
  const Use use(comm, "set_timeout", true);
  const auto limit = maybe_seconds_of(seconds, {"set_timeout", "seconds"});
  const int most = milliseconds(limit, -1, "set_timeout");
  check(tutti_comm_set_timeout(comm.handle, most), "set_timeout", comm.rank);
}

void raise_if_broken(Communicator& comm) {
  const Use use(comm, "check", false);
  check(tutti_comm_state(comm.handle), "check", comm.rank);
}

size_t elements(const Communicator&, Given buffer, const std::string& operation,
                const std::string& parameter) {
  return Array(buffer, false, {operation.c_str(), parameter.c_str()}).count();
}

nb::bytes unique_id() {
  tutti_unique_id id;
  check(without_lock([&] { return tutti_get_unique_id(&id); }), "unique_id", -1);
  return nb::bytes(id.bytes, sizeof id.bytes);
}

void release_id(const nb::bytes& id) {
  const tutti_unique_id unique = id_in(id, "release_id");
  check(without_lock([&] { return tutti_unique_id_release(&unique); }), "release_id", -1);
}

}  // namespace

Communicator::~Communicator() {
  if (handle == nullptr) return;
  const nb::error_scope kept;
  sweep();
  if (!orphans.empty()) tutti_comm_abort(handle, "dropped with calls in progress");
  free_handle(*this);
  if (PyErr_Occurred() != nullptr) PyErr_WriteUnraisable(nullptr);
}

void Communicator::sweep() {
  std::erase_if(orphans, [](const Orphan& orphan) {
    int over = 0;
    tutti_request_test(orphan.request, &over);
    if (over != 0) tutti_request_free(orphan.request);
    return over != 0;
  });
}

nb::class_<Communicator> add_communicator(nb::module_& module) {
  module.def("unique_id", unique_id);
  module.def("version", tutti_version_string);
  module.def("release_id", release_id);
  nb::class_<Communicator> type(module, "Communicator");
  type.def(nb::init<>())
      .def("_create", create, any("id"), any("rank"), any("size"), any("timeout"),
           any("init_timeout"), any("name"))
      .def("_create_from_env", create_from_env, any("timeout"), any("init_timeout"), any("name"))
      .def("_split", split, nb::arg("parent"), any("color"), any("key"), any("timeout"),
           any("init_timeout"), any("name"))
      .def("_shrink", shrink, nb::arg("parent"), any("timeout"), any("init_timeout"), any("name"))
      .def("_grow", grow, nb::arg("parent"), any("id"), any("newcomers"), any("timeout"),
           any("init_timeout"), any("name"))
      .def("_join", join, any("id"), any("newcomer"), any("newcomers"), any("timeout"),
           any("init_timeout"), any("name"))
      .def("_elements", elements, any("buffer"), nb::arg("operation"), nb::arg("parameter"))
      .def("destroy", destroy)
      .def("abort", abort, any("reason") = nb::none())
      .def("set_timeout", set_timeout, any("seconds"))
      .def("check", raise_if_broken)
      .def_prop_ro("rank", [](const Communicator& comm) { return comm.rank; })
      .def_prop_ro("size", [](const Communicator& comm) { return comm.size; })
      .def_prop_ro("is_destroyed", [](const Communicator& comm) { return comm.handle == nullptr; });
  return type;
}

}  // namespace tutti_core
