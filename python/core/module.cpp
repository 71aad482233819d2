// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti_ccl._core: tutti.h for Python, without PyTorch. tutti_ccl.communicator completes its class.
#include "collectives.hpp"
#include "request.hpp"
#include "xla.hpp"

#include <nanobind/stl/string.h>

namespace {

namespace nb = nanobind;

// Takes calls with other arguments than a method has. tutti_ccl.forms makes them again in its own
// form if they have mpi4py's names, or says what was expected.
template <typename Class>
void add_other_forms(Class& type) {
  const nb::list names = nb::steal<nb::list>(PyObject_Dir(type.ptr()));
  for (const nb::handle each : names) {
    const auto name = nb::cast<std::string>(each);
    if (name.front() == '_' || PyCallable_Check(nb::object(type.attr(each)).ptr()) == 0) continue;
    type.def(name.c_str(), [name](nb::handle self, const nb::args& given, const nb::kwargs& named) {
      return nb::module_::import_("tutti_ccl.forms").attr("call_again")(self, name, given, named);
    });
  }
}

}  // namespace

NB_MODULE(_core, module) {
  nanobind::set_leak_warnings(false);  // communicators that live until the interpreter ends
  tutti_core::in_place();
  auto type = tutti_core::add_communicator(module);
  tutti_core::add_equal_collectives(type);
  tutti_core::add_rooted_collectives(type);
  tutti_core::add_uneven_collectives(type);
  tutti_core::add_messages(type);
  auto request = tutti_core::add_requests(module);
  tutti_core::add_groups(module);
  tutti_core::add_lightgbm(module);
  tutti_core::add_xla(module);
  add_other_forms(type);
  add_other_forms(request);
  const auto no_arguments = [](const nb::args&, const nb::kwargs&) {
    tutti_core::raise_type("expected no arguments, and some were given");
  };
  module.def("unique_id", no_arguments);
  module.def("version", no_arguments);
  module.def("in_group", no_arguments);
}
