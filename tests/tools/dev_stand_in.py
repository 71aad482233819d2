# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What dev_test.py puts in place of compilers and installers: notes what they are asked for.

    dev_stand_in.py TOOL ARGUMENT...        in the folder of the copy
"""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path


def note(what, **facts):
    with open("noted", "a", encoding="utf-8") as file:
        file.write(json.dumps({"what": what, **facts}) + "\n")


def cache_of(tree):
    path = Path(tree, "CMakeCache.txt")
    text = path.read_text() if path.exists() else ""
    return dict(re.findall(r"^(\w+):\w+=(.*)$", text, re.M))


def packages():
    return set(Path("packages").read_text().split()) if Path("packages").exists() else set()


def configure(words):
    presets = {p["name"]: p for p in
               json.loads(Path("CMakePresets.json").read_text())["configurePresets"]}
    name = words[words.index("--preset") + 1]
    tree, variables, base = Path("build", name), {}, name
    while base:
        variables = {**presets[base].get("cacheVariables", {}), **variables}
        base = presets[base].get("inherits")
    given = dict(re.match(r"-D(\w+)=(.*)", word).groups() for word in words if word[:2] == "-D")
    variables = {**cache_of(tree), **variables, **given, "PACKAGES": " ".join(sorted(packages()))}
    tree.mkdir(parents=True, exist_ok=True)
    (tree / "build.ninja").touch()
    (tree / "CMakeCache.txt").write_text(
        "".join(f"{k}:STRING={v}\n" for k, v in variables.items()))


def compile_targets(words):
    name = words[words.index("--preset") + 1]
    tree = Path("build", name)
    targets = words[words.index("--target") + 1:] if "--target" in words else ["all"]
    note("build", tree=name, targets=targets, cache=cache_of(tree))
    for file in ("libtutti.so.1", *(["bin/tutti"] if targets != ["tutti"] else [])):
        if not (tree / file).exists():
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            stand_in(tree / file)


def stand_in(path):
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -IBS {Path(__file__).resolve()} '
                    f'"{path.name}" "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def act(name, words):
    if name == "cmake":
        (compile_targets if words[0] == "--build" else configure)(words)
    elif name == "sudo":
        return subprocess.run(words, check=False).returncode
    elif name == "apt-get" and "install" in words:
        new = [word for word in words if not word.startswith("-") and word != "install"]
        Path("packages").write_text(" ".join(sorted(packages().union(new))))
    elif name == "dpkg-query":
        for package in words[words.index("-f") + 2:]:
            if package in packages():
                text = words[words.index("-f") + 1]
                print(text.replace("${Package}", package).replace("\\n", "\n")
                      .replace("${Status}", "install ok installed"), end="")
    elif name == "pip" and words[-1] == ".":
        Path("package").write_text(Path(os.environ["TUTTI_BUILD"]).name)
    elif name == "wheel.sh":
        configure(["--preset", "release"])
        compile_targets(["--build", "--preset", "release", "--target", "tutti_installed"])
        note("wheel", cache=cache_of("build/release"), tree="release")
        Path("build/wheels").mkdir(parents=True, exist_ok=True)
        Path("build/wheels/pythons").write_text(os.path.abspath(".venv/bin/python") + "\n")
        Path("build/wheels/a.whl").touch()
    elif name == "python" and words[-1:] != ["python/tests"] and "-" not in words[:1]:
        package = Path("package").read_text() if Path("package").exists() else ""
        note("python", words=words, package=package if "--torch" in words or
             "examples/compare_training.py" in words else "")
    elif name in ("tutti", "ctest"):
        note(name, words=words)
    return 0



if __name__ == "__main__":
    sys.exit(act(sys.argv[1], sys.argv[2:]))
