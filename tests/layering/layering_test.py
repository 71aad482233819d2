# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""That layering.py finds what it is there to find."""

import tempfile
import unittest
from pathlib import Path

import layering

LINE = "// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0\n"


class Layering(unittest.TestCase):
    def complaints(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
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

    def test_a_wait_that_has_gone_is_found(self):
        self.assertIn("no longer", self.complaints("src/comm/monitor.cpp", LINE)[0])

    def test_a_file_without_the_copyright_line_is_found(self):
        self.assertIn("copyright", self.complaints("tools/x.cpp", "int x;\n")[0])

    def test_a_registry_host_is_found(self):
        self.assertIn("registry host", self.complaints("README.md", "from pypi" + ".org\n")[0])


if __name__ == "__main__":
    unittest.main()
