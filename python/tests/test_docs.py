# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""docs/pytorch.md says what is: its table, its error texts, its programs and its links."""

import re

import cells
import pytest
import pytorch_page
from programs import ROOT

PAGE = pytorch_page.PAGE.read_text(encoding="utf-8")
HINT = "python python/tests/pytorch_page.py writes the page anew"


def test_the_table_of_calls_is_what_the_calls_do(two_ranks):
    assert pytorch_page.TABLE.search(PAGE)[2].splitlines() == cells.table(two_ranks), HINT


@pytest.mark.parametrize("key", [*pytorch_page.MISTAKES, *pytorch_page.BEGINNINGS])
def test_the_page_has_the_text_of_the_error(key):
    texts = {match[2]: match[3] for match in pytorch_page.TEXT.finditer(PAGE)}
    assert " ".join(texts[key].split()) == " ".join(pytorch_page.provoke(key).split()), HINT


def test_what_the_page_names_is_there():
    named = set(re.findall(r"examples/[\w/]+\.py|benchmarks/[\w/]+\.py", PAGE))
    assert len(named) > 5
    named |= {f"docs/{link}" for link in re.findall(r"\]\(([\w./]+\.(?:md|svg))\)", PAGE)}
    named |= {f"examples/torch/better_than_gloo/{name}"
              for name in re.findall(r"^\| `(\w+\.py)", PAGE, re.MULTILINE)}
    missing = [name for name in named if not (ROOT / name).resolve().exists()]
    assert not missing


def test_every_program_about_gloo_is_on_the_page():
    for path in (ROOT / "examples" / "torch" / "better_than_gloo").glob("*.py"):
        assert f"`{path.name}" in PAGE, path.name


def test_lines_of_prose_are_short():
    assert [line for line in PAGE.splitlines() if len(line) > 100 and "|" not in line] == []
