# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Runs what people use over Tutti: `./dev clients NAME [ARGUMENT ...]`.

Each client is a file NAME.py beside this one, whose first lines say what is installed for it:

    PACKAGES = ["name==version", ...]   from Python's registry
    UNWANTED = ["name", ...]            optional: what these bring along and the client does without
    TUTTI_CCL = False                   optional: it needs the library, and no package of Python's

It is run by the interpreter of build/clients/NAME, where these are, and Tutti with the library of
build/release; building that wants PyTorch among the packages. Its docstring is its help.
"""

import ast
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
BUILT_WITH = ["scikit-build-core", "nanobind", "ninja"]
# What an installed package is made of; it is made again when one of these is newer.
SOURCES = ["build/release/libtutti.so.1", "build/release/bin", "pyproject.toml", "include",
           "python"]


def clients():
    return sorted(path.stem for path in HERE.glob("*.py") if declared(path))


def declared(path):
    """The lists that a client's file begins with, and its docstring; empty if it is none."""
    tree = ast.parse(path.read_text())
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in (
                "PACKAGES", "UNWANTED", "TUTTI_CCL"):
            found[node.targets[0].id] = ast.literal_eval(node.value)
    defaults = {"UNWANTED": [], "TUTTI_CCL": True, "help": ast.get_docstring(tree)}
    return {**defaults, **found} if found else {}


def newest(paths):
    files = (file for path in paths for file in [path, *path.rglob("*")]
             if file.is_file() and file.suffix != ".pyc")
    return max(file.stat().st_mtime for file in files)


def prepare(name, client):
    """The interpreter of the client's environment."""
    folder = TREE / "build" / "clients" / name
    python, stamp = folder / "bin" / "python", folder / "installed"
    wanted = "\n".join([sys.version, *client["PACKAGES"], "without", *client["UNWANTED"]])
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"installing {' '.join(client['PACKAGES'])} in {folder.relative_to(TREE)}",
              flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        pip(python, "install", *client["PACKAGES"], *BUILT_WITH)
        if client["UNWANTED"]:
            pip(python, "uninstall", "-y", *client["UNWANTED"])
        stamp.write_text(wanted)
    ours = folder / "tutti-installed"
    if not client["TUTTI_CCL"]:
        return python
    if not ours.exists() or ours.stat().st_mtime < newest([TREE / path for path in SOURCES]):
        print(f"building tutti_ccl for {name}", flush=True)
        ours.unlink(missing_ok=True)
        environment = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}",
                       "TUTTI_BUILD": str(TREE / "build" / "release")}
        pip(python, "install", "-q", "--no-build-isolation", "--no-deps",
            f"--config-settings=build-dir={folder / 'build'}", ".", cwd=TREE, env=environment)
        ours.touch()
    return python


def pip(python, command, *arguments, **options):
    done = subprocess.run([python, "-m", "pip", "--disable-pip-version-check", command, *arguments],
                          check=False, **options)
    if done.returncode != 0:
        sys.exit(f"clients: pip could not {command} {' '.join(map(str, arguments))}: see above")


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print("usage: ./dev clients NAME [ARGUMENT ...]; NAME --help says more\n")
        for name in clients():
            print(f"  {name:<12} {declared(HERE / f'{name}.py')['help'].splitlines()[0]}")
        return 0
    name, *rest = arguments
    if name not in clients():
        print(f"clients: no '{name}'; there are: {', '.join(clients())}", file=sys.stderr)
        return 2
    client = declared(HERE / f"{name}.py")
    if {"-h", "--help"} & set(rest):
        print(client["help"])
        return 0
    python = prepare(name, client)
    # Not by its path alone, which would put this folder before what is installed: a client has the
    # name of its file.
    start = "import runpy, sys; del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')"
    return subprocess.run([python, "-B", "-c", start, HERE / f"{name}.py", *rest],
                          cwd=TREE).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
