# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The site of the documents, which `./dev docs` makes in build/site.

Its pages are the documents where they lie in the tree, the C API as Doxygen reads the headers, the
Python API as its sources say it, and the help of the command. Links stay as they are written.
"""

import pathlib
import re
import shutil
import subprocess

tree = pathlib.Path(__file__).parent.parent

project = "Tutti"
author = "The Tutti authors"
copyright = "2026, The Tutti authors. Apache-2.0"
version = release = ".".join(
    re.findall(r"TUTTI_VERSION_\w+ (\d+)", (tree / "include/tutti/version.h").read_text())[:3]
)

extensions = ["myst_parser", "breathe", "autoapi.extension", "sphinx_copybutton"]
root_doc = "README"
include_patterns = [
    "*.md",
    "docs/**.md",
    "python/README.md",
    "examples/README.md",
    "benchmarks/**.md",
    "packaging/README.md",
    "build/site-pages/*.md",
    "build/site-pages/python/**.rst",
]

myst_heading_anchors = 4
breathe_projects = {"tutti": str(tree / "build/site-pages/xml")}
breathe_default_project = "tutti"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}

autoapi_dirs = [str(tree / "python/tutti_ccl")]
autoapi_root = "build/site-pages/python"
autoapi_options = ["members", "inherited-members"]
public_modules = {"tutti_ccl", *(f"tutti_ccl.{name}" for name in (
    "communicator", "requests", "errors", "constants", "MPI", "torch", "jax", "vllm", "lightgbm",
    "torchft", "meeting"))}
autoapi_add_toctree_entry = False
suppress_warnings = ["duplicate_declaration.c", "autoapi.python_import_resolution"]

html_theme = "furo"
html_title = f"Tutti {version}"
html_show_sphinx = False
templates_path = []

# What is at the left: a title and its documents, in reading order.
navigation = {
    "Start": "docs/install docs/pytorch docs/python docs/frameworks docs/inference docs/jax "
    "docs/mpi docs/torchcomms examples/README python/README",
    "Coming from": "docs/migrate docs/migrate-torch-ccl",
    "In a cluster": "docs/cluster docs/troubleshooting docs/watch docs/score docs/chaos docs/scale "
    "docs/devices docs/memory SECURITY",
    "Tuning": "docs/tuning docs/variables docs/tuning-file benchmarks/README",
    "Reference": "build/site-pages/c-api build/site-pages/cpp-api "
    "build/site-pages/python/tutti_ccl/index build/site-pages/command docs/glossary docs/versions CHANGELOG",
    "Inside": "ARCHITECTURE CONTRIBUTING packaging/README docs/design/* docs/notes/* benchmarks/others "
    "benchmarks/peers/README benchmarks/results/*",
}
pages = tree / "build/site-pages"


def add_navigation(_app, name, source):
    if name != root_doc:
        return
    for caption, listed in navigation.items():
        places = "\n".join("/" + page for page in listed.split())
        source[0] += (
            f"\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {caption}\n:maxdepth: 1\n\n"
            f"{places}\n```\n"
        )


def make_pages(_app):
    """Pages of what is said elsewhere: the headers and the command."""
    pages.mkdir(parents=True, exist_ok=True)
    subprocess.run(["doxygen", "docs/Doxyfile"], cwd=tree, check=True)
    write_api("c-api", "The C API", "doxygenfile:: tutti.h")
    write_api("cpp-api", "The C++ API", "doxygennamespace:: tutti::api\n   :members:")
    (pages / "command.md").write_text("# The command\n" + "".join(command_helps()))


def write_api(name, title, directive):
    (pages / f"{name}.md").write_text(f"# {title}\n\n```{{eval-rst}}\n.. {directive}\n```\n")


def command_helps():
    table = (tree / "tools/commands.inc").read_text()
    names = re.findall(r"^TUTTI_COMMAND\((\w+)\)", table, re.MULTILINE)
    for words in [[], *([name] for name in names)]:
        asked = [tree / "build/release/bin/tutti", *words, "--help"]
        text = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        yield f"\n## {' '.join(['tutti', *words])}\n\n```text\n{text}```\n"


def only_public(_app, what, name, _object, skip, _options):
    return skip or (what in ("module", "package") and name not in public_modules)


def first_page(app, error):
    if not error:
        site = pathlib.Path(app.outdir)
        shutil.copy(site / "README.html", site / "index.html")


def setup(app):
    app.connect("builder-inited", make_pages, priority=1)
    app.connect("autoapi-skip-member", only_public)
    app.connect("source-read", add_navigation)
    app.connect("build-finished", first_page)
