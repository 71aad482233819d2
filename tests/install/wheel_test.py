#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Tries a wheel where there is nothing but Python and PyTorch: `wheel_test.py WHEEL`.

Run by an interpreter that has PyTorch. The wheel is installed to an empty environment, which then
runs in a root directory of its own that has the files of the interpreter and of PyTorch, the system
libraries that those two need, and no others: no compiler, no shell, none of the libraries that Tutti
is built with. Needs the right to change the root directory (root, or namespaces of users).
"""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

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
    torch = Path(importlib.metadata.distribution("torch").locate_file("torch"))
    interpreter = Path(sys.executable).resolve()
    shown = [str(environment), str(base), sysconfig.get_paths()["purelib"]]
    linked = [interpreter, *base.glob("lib-dynload/*.so"), *torch.glob("lib/*.so*"), *torch.glob("_C*.so"),
              *torch.parent.glob("numpy/**/*.so")]
    libraries = {path for path in libraries_of(linked) if not any(path.startswith(s) for s in shown)}
    strangers = [path for path in libraries if re.match(rf"lib({'|'.join(FOREIGN)})\b", Path(path).name)]
    assert not strangers, f"PyTorch itself needs {strangers}: nothing can be seen here"
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


def main():
    wheel = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        environment, root = f"{scratch}/environment", f"{scratch}/root"
        site = make_environment(environment)
        (Path(environment) / "rank.py").write_text(RANK)
        subprocess.run([sys.executable, "-m", "pip", "--python", f"{environment}/bin/python", "install", "-q",
                        "--disable-pip-version-check", "--no-index", str(wheel)], check=True)
        print(f"installed to {site}")
        script = make_root(root, environment)
        enter = ["unshare", "-m", *(["-r"] if os.geteuid() else []), "sh", "-c", script, "sh"]
        clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        python, rank = f"{environment}/bin/python", f"{environment}/rank.py"
        jobs = {
            "torchrun": [python, f"{environment}/bin/torchrun", "--nproc-per-node", "2", rank],
            "tutti run": [python, f"{environment}/bin/tutti", "run", "-n", "2", python, rank, "file"],
        }
        for name, job in jobs.items():
            run = subprocess.run([*enter, *job], env=clean, timeout=120, capture_output=True, text=True, check=False)
            print(f"{name}: status {run.returncode}\n{run.stdout}{run.stderr}")
            if run.returncode != 0 or run.stdout.count("rank is right") != 2:
                sys.exit(f"wheel_test: {name} failed")


if __name__ == "__main__":
    main()
