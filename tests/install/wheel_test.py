#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Tries wheels where there is nothing but Python and PyTorch: `wheel_test.py WHEEL...`

Run by an interpreter that has PyTorch; by one that has not, the core is tried by itself. The wheels
are installed to an empty environment, which then runs in a root directory of its own. That has the
files of the interpreter and of PyTorch, the system libraries that those two need, and those that every
system has. There are no others: no compiler, no shell, none of the libraries that Tutti is built with.
Where that is not allowed (it needs root, or namespaces of users), it runs beside all that is on this
machine, and says so. Scripts for shells, and a program of oneCCL that is compiled, are tried on this
machine.
"""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

WITH_TORCH = importlib.util.find_spec("torch") is not None
PACKAGES = ["tutti_ccl", *(["torch_ccl", "oneccl_bindings_for_pytorch"] if WITH_TORCH else [])]
# What a system with such wheels has (the policies manylinux), whether or not the interpreter needs it.
EVERYWHERE = ("c", "dl", "gcc_s", "m", "pthread", "rt", "stdc++")
FOREIGN = ("hwloc", "sodium", "fmt", "hwy", "fabric", "pmix", "mpi", "mpich")

RANK = """
import sys, torch, torch.distributed as dist
if sys.argv[1:] == ["file"]:
    import os
    dist.init_process_group("ccl", "file:///tmp/meeting", rank=int(os.environ["RANK"]), world_size=2)
else:
    dist.init_process_group("ccl")
sum = torch.full((1000,), dist.get_rank() + 1.0)
dist.all_reduce(sum)
assert sum.eq(3).all(), sum
dist.destroy_process_group()
print("rank is right")
"""

# C++ exceptions between PyTorch's libraries and the wheel's, each with what it has of libstdc++.
ERRORS = """
import datetime, torch, torch.distributed as dist, tutti_ccl.torch
from tutti_ccl import _C
# PyTorch throws, ccl catches that and throws another, of which PyTorch makes Python's.
try:
    _C.create_backend(dist.Store(), 0, 2, datetime.timedelta(seconds=5), "lacking")
except dist.DistBackendError as error:
    assert "must have set, get and check" in str(error), error
    print("error is right")
# A c10::Error ends in ccl, which asks each argument whether it is a group; one is not.
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
negated = torch.tensor([1 + 2j]).conj().imag
dist.all_reduce(negated)
assert negated.is_neg() and negated.tolist() == [-2], negated
print("error is right")
"""


def requirements(name, seen):
    """The distributions that `name` needs, itself among them, as far as they are installed."""
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return
    if distribution.metadata["Name"].lower() in seen:
        return
    seen[distribution.metadata["Name"].lower()] = distribution
    for text in distribution.requires or []:
        requirements(re.match(r"[\w.-]+", text).group(), seen)


def make_environment(folder):
    """An environment with PyTorch and what that needs, as links to this interpreter's."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = next(Path(folder).glob("lib/python*/site-packages"))
    found = {}
    for name in ("torch", "numpy"):
        requirements(name, found)
    for distribution in found.values():
        for top in {file.parts[0] for file in distribution.files if file.parts[0] != ".."}:
            source = Path(distribution.locate_file(top))
            if source.exists() and not (site / top).exists() and top != "__pycache__":
                (site / top).symlink_to(source)
    if not WITH_TORCH:
        return site
    (Path(folder) / "bin/torchrun").write_text(
        f"#!{folder}/bin/python\nfrom torch.distributed.run import main\nmain()\n"
    )
    (Path(folder) / "bin/torchrun").chmod(0o755)
    return site


def libraries_of(files):
    """The system libraries that these files are linked with, as paths."""
    found = set()
    for file in files:
        run = subprocess.run(["ldd", file], capture_output=True, text=True, check=False)
        found |= set(re.findall(r"(/\S+) \(0x", run.stdout))
    return found


def make_root(root, environment):
    """The script that makes `root` and runs its arguments in it."""
    base = Path(sysconfig.get_paths()["stdlib"])
    site = Path(sysconfig.get_paths()["platlib"])
    interpreter = Path(sys.executable).resolve()
    shown = [str(environment), str(base), sysconfig.get_paths()["purelib"]]
    linked = [interpreter, *base.glob("lib-dynload/*.so"), *site.glob("torch/lib/*.so*"),
              *site.glob("torch/_C*.so"), *site.glob("numpy/**/*.so")]
    command = next(Path(environment).glob("lib/python*/site-packages/tutti_ccl/bin/tutti"))
    everywhere = {path for path in libraries_of([command])
                  if Path(path).name.split(".so")[0] in {f"lib{name}" for name in EVERYWHERE}}
    libraries = {path for path in libraries_of(linked) | everywhere if not any(path.startswith(s) for s in shown)}
    strangers = [path for path in libraries if re.match(rf"lib({'|'.join(FOREIGN)})\b", Path(path).name)]
    assert not strangers, f"PyTorch or numpy needs {strangers}: nothing can be seen here"
    names = [path for path in ("/etc/hosts", "/etc/nsswitch.conf", "/etc/passwd") if os.path.exists(path)]
    for path in {str(interpreter), *libraries, *names}:
        target = Path(f"{root}{path}")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    # Links on the way to the interpreter, such as /lib64 and those of environments.
    for link in ("/lib", "/lib64", "/bin"):
        if os.path.islink(link) and not Path(root + link).exists():
            os.symlink(os.readlink(link), root + link)
    mounts = [f"mkdir -p '{root}{path}' && mount --bind '{path}' '{root}{path}'" for path in shown]
    mounts += [f"mkdir -p '{root}{path}' && mount --rbind {path} '{root}{path}'" for path in ("/proc", "/dev", "/sys")]
    return " && ".join([*mounts, f"mkdir -p '{root}/tmp'", f"exec chroot '{root}' \"$@\""])


# The line of oneCCL's users, before and after which nothing is set that would help.
SOURCE = 'source "$("$0" -c "import $1 as torch_ccl; print(torch_ccl.cwd)")/env/setvars.sh"'


def in_shell(line, *arguments):
    """What a line of bash prints in a clean environment on this machine, which has compilers."""
    command = ["bash", "-euc", line, *arguments]
    run = subprocess.run(command, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"wheel_test: {line}: status {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout


def try_scripts(environment, site):
    for package in PACKAGES:
        said = in_shell(f"{SOURCE}; tutti --version; echo $CCL_ROOT", f"{environment}/bin/python", package)
        assert said.startswith("tutti ") and said.endswith(f"\n{site}/tutti_ccl\n"), said


def build_for_oneccl(environment):
    """A program of oneCCL's C++ API, built as DeepSpeed builds its helper, by CCL_ROOT alone."""
    source, program = Path(__file__).parent / "oneccl/program.cpp", f"{environment}/program"
    in_shell(
        f'{SOURCE} --oneccl; unset CPATH LIBRARY_PATH LD_LIBRARY_PATH; '
        'c++ -std=c++14 "$2" -I"$CCL_ROOT/include" -L"$CCL_ROOT/lib" -lccl -Wl,-rpath,"$CCL_ROOT/lib" -o "$3"',
        f"{environment}/bin/python", PACKAGES[-1], str(source), program)
    return program


def install(wheels, environment):
    site = make_environment(environment)
    (Path(environment) / "rank.py").write_text(RANK)
    (Path(environment) / "errors.py").write_text(ERRORS)
    shutil.copy(Path(__file__).parents[2] / "examples/python/allreduce.py", f"{environment}/arrays.py")
    subprocess.run([sys.executable, "-m", "pip", "--python", f"{environment}/bin/python", "install", "-q",
                    "--disable-pip-version-check", "--no-index", *wheels], check=True)
    print(f"installed to {site}")
    return site


def jobs_of(environment):
    """What is run where there is nothing else: a name, the command, and how often it prints what."""
    python, rank, tutti = (f"{environment}/{name}" for name in ("bin/python", "rank.py", "bin/tutti"))
    of_torch = [
        ("torchrun", [python, f"{environment}/bin/torchrun", "--nproc-per-node", "2", rank], 2, "rank is right"),
        ("tutti run", [python, tutti, "run", "-n", "2", python, rank, "file"], 2, "rank is right"),
        ("exceptions", [python, f"{environment}/errors.py"], 2, "error is right"),
    ]
    return [
        *(of_torch if WITH_TORCH else []),
        ("without PyTorch", [python, tutti, "run", "-n", "2", python, f"{environment}/arrays.py"], 1,
         "ok: the sum of 2 ranks is 1"),
        ("tutti", [python, tutti, "--version"], 1, "tutti "),
        ("python -m tutti_ccl", [python, "-m", "tutti_ccl", "--version"], 1, "tutti "),
        ("oneCCL's API", [build_for_oneccl(environment)], 0, "failed"),
    ]


def way_into(root, environment):
    """What goes before a command that shall see nothing but the environment."""
    enter = ["unshare", "-m", *(["-r"] if os.geteuid() else []), "sh", "-c"]
    allowed = subprocess.run([*enter, "mount --bind / /"], capture_output=True, check=False).returncode == 0
    if allowed:
        return [*enter, make_root(root, environment), "sh"]
    print("this process may not change its root directory: what is on this machine can be seen")
    return []


def main():
    with tempfile.TemporaryDirectory() as scratch:
        environment, root = f"{scratch}/environment", f"{scratch}/root"
        wheels = [Path(wheel).resolve() for wheel in sys.argv[1:]]
        site = install([wheel for wheel in wheels if WITH_TORCH or "_torch-" not in wheel.name], environment)
        try_scripts(environment, site)
        subprocess.run([Path(__file__).with_name("oneccl_test.sh"), site / "tutti_ccl"], check=True)
        jobs, enter = jobs_of(environment), way_into(root, environment)
        clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        for name, job, count, text in jobs:
            run = subprocess.run([*enter, *job], env=clean, timeout=120, capture_output=True, text=True, check=False)
            print(f"{name}: status {run.returncode}\n{run.stdout}{run.stderr}")
            if run.returncode != 0 or run.stdout.count(text) != count:
                sys.exit(f"wheel_test: {name} failed")


if __name__ == "__main__":
    main()
