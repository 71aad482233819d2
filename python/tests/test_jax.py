# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""JAX over Tutti, where it is installed (`./dev clients jax` does that): its own collectives, and
those of tutti_ccl.jax."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from programs import free_port

pytest.importorskip("jax")

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
COMPILER = shutil.which("c++")


def python(*arguments, **environment):
    return subprocess.run([sys.executable, *map(str, arguments)], text=True, timeout=300,
                          capture_output=True, check=False, env={**os.environ, **environment})


def run(ranks, program, *arguments, **environment):
    done = python("-m", "tutti_ccl", "run", "-n", ranks, sys.executable, program, *arguments,
                  **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok") == ranks, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def settings():
    done = python("-m", "tutti_ccl.jax")
    assert done.returncode == 0, done.stderr
    return dict(re.findall(r"^export (\w+)=(.*)$", done.stdout, re.MULTILINE))


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("check", ["results", "messages", "types", "derivatives", "batches",
                                   "order", "mistakes"])
def test_calls_inside_jit_are_right(check, ranks):
    run(ranks, HERE / "jax_calls.py", check)


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_jaxs_own_collectives_over_tutti_give_what_numpy_does(settings, ranks):
    done = run(ranks, HERE / "jax_collectives.py", **settings)
    assert "has died" not in done.stderr, done.stderr


def test_a_rank_that_fails_ends_the_collectives_of_its_peers(settings):
    program = """if True:
        import os, jax, numpy as np
        rank = int(os.environ["RANK"])
        jax.distributed.initialize(f"127.0.0.1:{os.environ['MASTER_PORT']}", 2, rank)
        mesh = jax.make_mesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
        split = jax.sharding.PartitionSpec("i")
        given = jax.make_array_from_process_local_data(jax.NamedSharding(mesh, split), np.ones(2))
        total = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x, "i"), mesh=mesh, in_specs=split,
                                      out_specs=split))
        jax.block_until_ready(total(given))
        if rank == 1:
            os.kill(os.getpid(), 9)
        try:
            jax.block_until_ready(total(given))
        except (RuntimeError, ValueError) as error:
            print("raised", error, flush=True)
            os._exit(3)
    """
    done = python("-m", "tutti_ccl", "run", "-n", 2, sys.executable, "-c", program, **settings)
    assert "raised" in done.stdout, done.stdout + done.stderr
    assert re.search(r"rank 1 .*has died", done.stdout + done.stderr), done.stdout + done.stderr


@pytest.mark.parametrize("launcher, devices", [("tutti run", 2), ("none", 1)])
def test_groups_that_are_not_one_device_for_each_process_are_an_error(settings, launcher, devices):
    program = """if True:
        import os, sys, jax, numpy as np
        jax.distributed.initialize(f"127.0.0.1:{sys.argv[1]}", 2, int(sys.argv[2]))
        mesh = jax.make_mesh((jax.device_count(),), ("i",),
                             axis_types=(jax.sharding.AxisType.Auto,))
        split = jax.sharding.PartitionSpec("i")
        given = jax.make_array_from_process_local_data(
            jax.NamedSharding(mesh, split), np.ones(jax.local_device_count()))
        total = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x, "i"), mesh=mesh, in_specs=split,
                                      out_specs=split))
        try:
            got = np.asarray(total(given).addressable_data(0))
            print("got", got, flush=True)
        except (RuntimeError, ValueError) as error:
            print("raised", error, flush=True)
            os._exit(3)
    """
    environment = {**os.environ, **settings,
                   "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"}
    command = [sys.executable, "-c", program, str(free_port())]
    if launcher == "none":
        lines = [[*command, str(rank)] for rank in range(2)]
    else:
        shell = 'exec "$@" $RANK'
        lines = [[sys.executable, "-m", "tutti_ccl", "run", "-n", "2", "sh", "-c", shell, "sh",
                  *command]]
    jobs = [subprocess.Popen(line, env=environment, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT) for line in lines]
    told = [job.communicate(timeout=300)[0] for job in jobs]
    assert "one device for each process" in "".join(told), told
    if launcher == "none":  # rank 0 is alone, and is told so
        assert "no launcher" in told[0], told
    else:
        assert "got" not in told[0], told


@pytest.mark.parametrize("program", ["data_parallel.py", "sharded.py"])
def test_an_example_runs(program):
    run(2, ROOT / "examples" / "jax" / program)


def test_use_comes_before_jax():
    done = python("-c", "import jax, tutti_ccl.jax; tutti_ccl.jax.use()")
    assert done.returncode != 0
    assert "call it before `import jax`" in done.stderr, done.stderr


def test_the_layout_of_xlas_calls_is_that_of_the_installed_header(tmp_path):
    if COMPILER is None:
        pytest.skip("no C++ compiler is installed")
    import jax

    header = pathlib.Path(jax.ffi.include_dir(), "xla/ffi/api/c_api.h").read_text(encoding="utf-8")
    # jaxlib 0.10 has another name for it than 0.12.
    extension = next(name for name in ("InternalExtension", "Extension_Base")
                     if f"XLA_FFI_{name} " in header)
    pairs = {
        "CallFrame": ("CallFrame", {"extensions": "extension_start", "api": "api", "stage": "stage",
                                    "arguments": "args", "results": "rets", "attributes": "attrs"}),
        "Buffers": ("Args", {"size": "size", "kinds": "types", "buffers": "args"}),
        "Attributes": ("Attrs", {"size": "size", "kinds": "types", "names": "names",
                                 "values": "attrs"}),
        "Buffer": ("Buffer", {"type": "dtype", "data": "data", "rank": "rank", "dims": "dims"}),
        "Scalar": ("Scalar", {"type": "dtype", "value": "value"}),
        "Text": ("ByteSpan", {"data": "ptr", "size": "len"}),
        "ErrorToBe": ("Error_Create_Args", {"message": "message", "code": "errc"}),
        "Api": ("Api", {"version": "api_version", "create_error": "XLA_FFI_Error_Create"}),
        "Version": ("Api_Version", {"major": "major_version", "minor": "minor_version"}),
        "Extension": (extension, {"type": "type", "next": "next"}),
        "Metadata": ("Metadata", {"version": "api_version", "traits": "traits"}),
        "MetadataExtension": ("Metadata_Extension", {"metadata": "metadata"}),
    }
    values = {f"k{name}": f"DataType_{theirs}" for name, theirs in {
        "Pred": "PRED", "S8": "S8", "S64": "S64", "U8": "U8", "U64": "U64", "F16": "F16",
        "F32": "F32", "F64": "F64", "C64": "C64", "C128": "C128", "Bf16": "BF16",
        "Token": "TOKEN", "F8E5M2": "F8E5M2", "F8E4M3Fn": "F8E4M3FN"}.items()}
    values |= {"kMetadataExtension": "Extension_Metadata", "kScalarAttribute": "AttrType_SCALAR",
               "kMajorVersion": "API_MAJOR", "kUnavailable": "Error_Code_UNAVAILABLE",
               "kInvalidArgument": "Error_Code_INVALID_ARGUMENT", "kAborted": "Error_Code_ABORTED"}
    lines = ['#include <xla/ffi/api/c_api.h>', f'#include "{ROOT}/python/core/xla_ffi.hpp"',
             "namespace ours = tutti_core::xla;"]
    for ours, (theirs, fields) in pairs.items():
        lines += [f"static_assert(offsetof(ours::{ours}, {a}) == offsetof(XLA_FFI_{theirs}, {b}));"
                  for a, b in fields.items()]
    lines += [f"static_assert(int(ours::{a}) == int(XLA_FFI_{b}));" for a, b in values.items()]
    source = tmp_path / "layout.cpp"
    source.write_text("\n".join(lines) + "\n")
    done = subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", f"-I{jax.ffi.include_dir()}",
                           source], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
