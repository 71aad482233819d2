# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Packages of Python that tests need or compare with."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

SKIPPED = 77  # the exit status of a test that could not have one
DEBIANS = "/usr/bin/python3"  # for which Debian's packages are


def need(module, package):
    """The module. Without it the program begins anew in Debian's interpreter, or ends as skipped."""
    try:
        return importlib.import_module(module)
    except ImportError:
        pass
    if Path(DEBIANS).exists() and sys.executable != DEBIANS:
        os.execv(DEBIANS, [DEBIANS, "-B", *sys.argv])
    print(f"SKIPPED: no interpreter has the module {module} (Debian: {package})")
    sys.exit(SKIPPED)


def download(package, folder):
    """The wheel of "name==version", or None, having said why."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check",
               "--no-deps", "--only-binary", ":all:", "-d", folder, package]
    made = subprocess.run(command, text=True, capture_output=True)
    if made.returncode != 0:
        print(f"skipped: {package} cannot be had: {made.stderr.strip()}")
        return None
    return next(Path(folder).glob(package.partition("==")[0].replace("-", "_") + "-*.whl"))
