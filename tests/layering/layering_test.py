# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""That layering.py finds what it is there to find."""

import tempfile
import unittest
from pathlib import Path

import layering

LINE = "// Copyright 2026 The Tutti authors. SPDX-License" "-Identifier: Apache-2.0\n"


class Layering(unittest.TestCase):
    def complaints(self, name, text, others=None):
        with tempfile.TemporaryDirectory() as folder:
            for file, content in ((others or {}) | {name: text}).items():
                path = Path(folder) / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
            return list(layering.complaints(Path(folder), [Path(name)]))

    def test_including_what_stands_before_is_allowed(self):
        text = LINE + '#include "core/status.hpp"\n#include <tutti/tutti.h>\n#include "exec/lane.hpp"\n'
        self.assertEqual(self.complaints("src/exec/executor.cpp", text), [])

    def test_including_what_stands_after_is_found(self):
        found = self.complaints("src/sched/schedule.cpp", LINE + '#include "comm/communicator.hpp"\n')
        self.assertIn("comm does not stand before sched", found[0])

    def test_including_a_neighbour_of_the_same_layer_is_found(self):
        found = self.complaints("kernels/reduce.cpp", LINE + '#  include "sched/schedule.hpp"\n')
        self.assertIn("sched does not stand before kernels", found[0])

    def test_a_folder_outside_all_layers_is_found(self):
        self.assertIn("stands in no layer", self.complaints("src/misc/x.hpp", LINE)[0])

    def test_a_planner_that_can_see_what_ranks_have_not_agreed_on_is_found(self):
        for planner in ("algorithms/x.cpp", "src/select/x.cpp", "src/sched/x.hpp", "src/exec/plan_x.cpp"):
            for header in ("core/topology.hpp", "env/env.hpp"):
                found = self.complaints(planner, LINE + f'#include "{header}"\n')
                self.assertTrue(any("have agreed on" in line for line in found), (planner, header, found))
            self.assertIn("have agreed on", self.complaints(planner, LINE + "#include <sched.h>\n")[0])
        self.assertEqual(self.complaints("src/exec/worker.cpp", LINE + '#include "core/topology.hpp"\n'), [])

    def test_a_planner_that_can_see_it_by_way_of_another_header_is_found(self):
        others = {"src/exec/a.hpp": LINE + '#include "core/b.hpp"\n',
                  "src/core/b.hpp": LINE + '#include "core/cache_domain.hpp"\n'}
        found = self.complaints("src/exec/plan.cpp", LINE + '#include "exec/a.hpp"\n', others)
        self.assertEqual(len(found), 1)
        self.assertIn("src/exec/plan.cpp -> exec/a.hpp -> core/b.hpp -> core/cache_domain.hpp", found[0])

    def test_a_planner_that_sees_the_variables_of_the_job_is_allowed(self):
        text = LINE + '#include "env/job_variables.hpp"\n#include "exec/call.hpp"\n'
        self.assertEqual(self.complaints("src/exec/plan.cpp", text), [])

    def test_reading_the_environment_elsewhere_is_found(self):
        text = LINE + 'const char* home = std::getenv("HOME");\n'
        self.assertIn("reads the environment", self.complaints("src/comm/x.cpp", text)[0])
        self.assertEqual(self.complaints("env/env.cpp", text), [])

    def test_waiting_elsewhere_is_found(self):
        for call in ("nanosleep(&pause, nullptr);", "std::this_thread::sleep_for(pause);",
                     "poll(&entry, 1, -1);", "changed_.wait_for(lock, pause);"):
            text = LINE + f"void wait() {{ {call} }}\n"
            self.assertIn("waits by itself", self.complaints("src/exec/x.cpp", text)[0], call)
            self.assertEqual(self.complaints("src/comm/monitor.cpp", text), [], call)
        text = LINE + "while (endpoint_->poll()) step();  // no sleep_for(pause)\n"
        self.assertEqual(self.complaints("src/exec/x.cpp", text), [])

    def test_a_descriptor_that_may_be_that_of_a_standard_stream_is_found(self):
        for call in ("const int fd = socket(AF_UNIX, SOCK_STREAM, 0);",
                     "epoll_ = epoll_create1(EPOLL_CLOEXEC);",
                     "int file = open(path(name).c_str(), O_RDONLY | O_CLOEXEC);",
                     "int pidfd = syscall(SYS_pidfd_open, pid, 0);",
                     "FILE* file = std::fopen(path, \"we\");"):
            text = LINE + f"void f() {{ {call} }}\n"
            self.assertIn("standard stream", self.complaints("src/exec/x.cpp", text)[0], call)
        for call in ("const Fd file(open(path.c_str(), O_RDONLY));", "region.open(O_WHAT);",
                     "socket_.reset(socket(AF_UNIX, SOCK_STREAM, 0));",
                     "std::fopen(path, \"re\");"):
            text = LINE + f"void f() {{ {call} }}\n"
            self.assertEqual(self.complaints("src/exec/x.cpp", text), [], call)

    def test_a_wait_that_has_gone_is_found(self):
        self.assertIn("no longer", self.complaints("src/comm/monitor.cpp", LINE)[0])

    def test_a_file_without_the_copyright_line_is_found(self):
        self.assertIn("copyright", self.complaints("tools/x.cpp", "int x;\n")[0])

    def test_a_registry_host_is_found(self):
        self.assertIn("registry host", self.complaints("README.md", "from pypi" + ".org\n")[0])


if __name__ == "__main__":
    unittest.main()
