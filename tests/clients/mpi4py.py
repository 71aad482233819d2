# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""mpi4py's own tests over libmpi_abi.so.1: `./dev clients mpi4py [RANKS ...]`.

Builds mpi4py from its source package against our mpi.h, and runs what its tests have of messages,
collectives, communicators, groups, requests, operations, statuses, types and attributes on 1, 2, 3
and 4 ranks, or as many as are given. Fails if a test fails that LEFT_OUT does not explain.
"""

import os
import pathlib
import re
import subprocess
import sys
import tarfile

PACKAGES = ["numpy", "setuptools", "wheel", "cython"]
TUTTI_CCL = False
VERSION = "4.1.2"
TREE = pathlib.Path(__file__).resolve().parents[2]
BUILD = TREE / "build" / "release"
FOLDER = TREE / "build" / "clients" / "mpi4py"
TESTS = """test_p2p_buf test_p2p_obj test_request test_op test_status test_comm test_attributes
    test_errhandler test_errorcode test_group test_cco_buf test_cco_vec test_cco_obj test_cco_nb
    test_cco_pr test_info test_datatype test_msgzero test_handle test_threads test_pickle
    test_address test_ctypes""".split()
# Patterns of files that are not run, and of tests that may fail, with what they are about.
NOT_RUN = {
    "_inter": "communicators between groups",
    "_topo": "topologies",
    "_ngh": "collectives of neighbours",
    "_part": "messages in partitions",
}
LEFT_OUT = {
    r"testBuffering .*": "buffers that are attached to a communicator",
    r"\w+ \(test_errhandler\.TestErrhandler(File|Win|Session)\..*": "files, windows and sessions",
    r"test(F90|Darray|MatchSize|CodeCharStr)\w* .*": "types of Fortran and of distributed arrays",
}


def pip(*arguments, **options):
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments, "-q"],
                   check=True, **options)


def build():
    """The folder of the sources, installed."""
    sources = FOLDER / f"mpi4py-{VERSION}"
    stamp = FOLDER / "mpi4py-built"
    if not sources.exists():
        pip("download", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "-d", FOLDER,
            f"mpi4py=={VERSION}")
        with tarfile.open(FOLDER / f"mpi4py-{VERSION}.tar.gz") as archive:
            archive.extractall(FOLDER, filter="data")
    if stamp.exists():
        return sources
    compiler = FOLDER / "mpicc"
    compiler.write_text(f'#!/bin/sh\nexec cc -I{TREE}/compat/mpi/include "$@" '
                        f"-L{BUILD}/tutti/mpi -lmpi_abi -Wl,--allow-shlib-undefined\n")
    compiler.chmod(0o755)
    pip("install", "--no-deps", "--no-build-isolation", sources,
        env={**os.environ, "MPICC": str(compiler), "CFLAGS": "-O0 -w"})
    stamp.touch()
    return sources


def failures(sources, test, ranks):
    """Tests that failed without a reason; None if the program did not end well at all."""
    excluded = [word for pattern in NOT_RUN for word in ("-e", pattern)]
    libraries = f"{BUILD}/tutti/mpi:{BUILD}"
    try:
        made = subprocess.run(
            [BUILD / "bin" / "tutti", "run", "-n", str(ranks), sys.executable, "test/main.py", "-q",
             "-i", test, *excluded], cwd=sources, text=True, capture_output=True, timeout=600,
            errors="replace", env={**os.environ, "LD_LIBRARY_PATH": libraries})
    except subprocess.TimeoutExpired:
        return ["it did not end within 600 s"]
    output = made.stdout + made.stderr
    failed = set(re.findall(r"^(?:ERROR|FAIL): (\w+ \(.*)$", output, re.M))
    unexplained = [name for name in sorted(failed)
                   if not any(re.match(pattern, name) for pattern in LEFT_OUT)]
    ran = re.findall(r"^Ran (\d+) tests? in", output, re.M)
    if not ran or (made.returncode != 0 and not failed):
        return [output[-2000:]]
    print(f"{test}, {ranks} ranks: {ran[0]} tests, {len(failed)} of what is left out, "
          f"{len(unexplained)} failed", flush=True)
    return unexplained


def main(arguments):
    sources = build()
    bad = 0
    for ranks in map(int, arguments or "1234"):
        for test in TESTS:
            for failure in failures(sources, test, ranks):
                print(f"{test}, {ranks} ranks: {failure}", file=sys.stderr)
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
