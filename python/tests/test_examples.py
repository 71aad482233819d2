# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Every program of examples/ runs as it is written, over ccl, and finds its own result right."""

import re
import subprocess
import sys

import pytest
from programs import ROOT, run, serve_store

TORCH = ROOT / "examples" / "torch"
BETTER = TORCH / "better_than_gloo"

# name of the file -> arguments for each time that it runs; "ranks=4" says how many, else 2.
ARGUMENTS = {
    "ddp_basic.py": ["--epochs 2 --samples 384"],
    "ddp_checkpoint.py": ["--steps 10"],
    "ddp_model_parallel.py": ["--steps 10", "ranks=4 --steps 5"],
    "uneven_inputs.py": ["", "ranks=3"],
    "resnet18.py": ["--images 160 --epochs 2 --width 4 --wanted-accuracy 0"],
    "point_to_point.py": ["", "ranks=3 --count 10", "ranks=4 --count 2"],
    "tensor_parallel.py": ["--layers 1 --width 64 --tokens 8"],
    "fsdp2.py": ["--steps 6 --layers 1"],
    "elastic_restart.py": ["--epochs 1"],
    "late_barrier.py": ["ranks=3"],
    "mistakes.py": ["types", "sizes", "calls", "missing", "died"],
}
ALONE = TORCH / "single_card_dist.py"  # starts its ranks itself
PROGRAMS = sorted({*TORCH.glob("*.py"), *BETTER.glob("*.py")} - {ALONE})
RUNS = [(path, arguments) for path in PROGRAMS for arguments in ARGUMENTS.get(path.name, [""])]


@pytest.mark.parametrize("path,arguments", RUNS, ids=lambda value: getattr(value, "name", value))
def test_an_example_runs_and_is_right(path, arguments):
    ranks = int((re.match(r"ranks=(\d+)", arguments) or [0, 2])[1])
    words = [word for word in arguments.split() if not word.startswith("ranks=")]
    _store, environment = serve_store()
    statuses, output = run(path, *words, ranks=ranks, environment=environment)
    assert statuses == [0] * ranks, output
    assert re.search(r"^(ok|after epoch)\b", output, re.MULTILINE), output


def test_an_example_that_starts_its_ranks_itself_runs():
    done = subprocess.run([sys.executable, ALONE], text=True, capture_output=True, timeout=120,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert "ok: 2 processes on cpu" in done.stdout, done.stdout


def test_no_arguments_are_given_to_examples_that_are_not_there():
    assert set(ARGUMENTS) <= {path.name for path in PROGRAMS}


def test_the_page_of_examples_names_each_or_its_folder():
    page = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    sources = [path for path in (ROOT / "examples").rglob("*") if path.suffix in (".c", ".cpp", ".py")]
    assert len(sources) > 20
    assert [path for path in sources
            if f"`{path.name}`" not in page and f"`{path.parent.name}/" not in page] == []


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_an_example_says_how_it_is_started(path):
    text = path.read_text(encoding="utf-8")
    assert f" {path.relative_to(ROOT)}" in text.split('"""')[1]
    assert '"--backend", choices=["ccl", "gloo"], default="ccl"' in text


def checksum(output):
    return re.search(r"checksum (\S+)", output)[1]


def test_a_resumed_resnet_ends_as_one_that_was_not_stopped(tmp_path):
    small = ["--images", 96, "--width", 4, "--epochs", 2, "--wanted-accuracy", 0]
    kept = ["--checkpoint", tmp_path / "resnet.pt"]
    statuses, straight = run(TORCH / "resnet18.py", *small)
    assert statuses == [0, 0], straight
    statuses, output = run(TORCH / "resnet18.py", *small, *kept, "--stop-after", 1)
    assert statuses == [0, 0], output
    assert "after epoch 1:" in output and checksum(output) != checksum(straight)
    statuses, output = run(TORCH / "resnet18.py", *small, *kept, "--resume")
    assert statuses == [0, 0], output
    assert "after epoch 2:" in output and checksum(output) == checksum(straight)


def torchrun(*arguments, seconds=120):
    return subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2",
                           *arguments], cwd=ROOT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=seconds)


def test_torchrun_starts_the_ranks_again_and_they_go_on():
    done = torchrun("--max-restarts=1", "examples/torch/elastic_restart.py", "--epochs", "4")
    assert done.returncode == 0, done.stdout
    assert "rank 1 kills itself in epoch 2" in done.stdout
    assert re.search(r"rank 0, life 0: .*rank 1 .*has died", done.stdout), done.stdout
    assert "life 1 begins with epoch 2" in done.stdout
    assert "ok: life 1" in done.stdout
