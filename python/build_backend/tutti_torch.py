# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Which PyTorch the package is built against: the one of the environment that it is installed to.

Run as a program it prints for CMake that PyTorch's folder and version. It also prints the name of
the folder where tutti_ccl._C looks for what was built against it.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = (2, 12)

# Finds PyTorch without importing it, which takes seconds.
PROBE = """
import importlib.util, sys
spec = importlib.util.find_spec("torch")
print(*sys.version_info[:2], spec.origin if spec and spec.origin else "", sep=";")
"""


def _is_thrown_away(prefix):
    """Whether this is an environment that `build` or uv has made for this build alone."""
    return Path(prefix).name.startswith(("build-env-", ".tmp"))


def _interpreters():
    # pip runs this interpreter of its own environment and hides what is installed there by
    # PYTHONPATH, which -E ignores.
    yield sys.executable
    if _is_thrown_away(sys.prefix):
        for folder in os.get_exec_path():
            if shutil.which("python3", path=folder):
                yield os.path.join(folder, "python3")


def _folder_seen_by(interpreter):
    command = [interpreter, "-E", "-c", PROBE]
    run = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False)
    major, minor, origin = (run.stdout.strip() or "0;0;").split(";", 2)
    same = (int(major), int(minor)) == sys.version_info[:2]
    return Path(origin).parent if same and origin else None


def find():
    """PyTorch's folder and version, or None."""
    for interpreter in _interpreters():
        folder = _folder_seen_by(interpreter)
        if folder and (folder / "version.py").is_file():
            text = (folder / "version.py").read_text(encoding="utf-8")
            found = re.search(r"^__version__ = ['\"](.+?)['\"]", text, re.MULTILINE)
            if found:
                return folder, found.group(1)
    return None


def numbers(version):
    """(2, 13) of "2.13.0+cpu"."""
    return tuple(int(part) for part in re.match(r"(\d+)\.(\d+)", version).groups())


def series(version):
    """ "2.13.*", as requirements say it: what a package built against "2.13.0+cpu" works with."""
    public = version.split("+")[0]
    if re.fullmatch(r"[\d.]+", public):
        return "%d.%d.*" % numbers(version)
    return public  # before a release the interface changes from day to day


def dynamic_metadata(field, _settings=None):
    """scikit-build-core asks here for the package's dependencies."""
    assert field == "dependencies"
    if os.environ.get("TUTTI_TORCH") == "OFF":
        return []
    found = find()
    # An archive of sources depends on what will be installed where it is built.
    return ["torch==" + series(found[1]) if found else "torch>=%d.%d" % OLDEST]


if __name__ == "__main__":
    result = find()
    if result is None or numbers(result[1]) < OLDEST:
        found = f" (found {result[1]} in {result[0]})" if result else ""
        sys.exit("PyTorch %d.%d or later is missing in the environment of " % OLDEST + sys.executable +
                 found + ". Type: pip install 'torch>=%d.%d'" % OLDEST)
    print(*result, "torch_" + re.sub(r"\W", "_", series(result[1]).removesuffix(".*")), sep=";")
