# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The manual pages: one for each verb, with its options, and in a format that roff accepts."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from heapwright.cli.lazy_group import load
from heapwright.cli.main import app
from heapwright.cli.manual import main, pages
from heapwright.cli.verbs import VERBS

from .test_verbs import verbs_within


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    return pages()


def test_each_verb_has_a_page_with_its_options(written: dict[str, str]) -> None:
    for verb in VERBS:
        command: Any = load(verb)
        assert f"heapwright-{verb.name}" in written
        for inner in getattr(command, "commands", {}):
            assert f"heapwright-{verb.name}-{inner}" in written
        options = [form for each in command.params for form in each.opts if form[0] == "-"]
        text = written[f"heapwright-{verb.name}"].replace("\\-", "-")
        assert [option for option in options if option not in text] == []
    inner_verbs = sum(1 for verb in VERBS for _ in verbs_within(load(verb)))
    assert len(written) == 1 + inner_verbs


def test_the_page_of_the_tool_names_every_verb(written: dict[str, str]) -> None:
    named = [f".BR heapwright\\-{verb.name} (1)" for verb in VERBS]
    assert [line for line in named if line not in written["heapwright"].split("\n")] == []
    assert "\\-\\-completion" in written["heapwright"]
    assert typer.main.get_command(app).help in written["heapwright"]


def test_roff_reads_the_pages_without_a_warning(tmp_path: Path) -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed (package groff-base)")
    assert main([str(tmp_path)]) == 0
    files = sorted((tmp_path / "man1").iterdir())
    assert [file.name for file in files if not file.name.endswith(".1")] == []
    words = ["groff", "-man", "-Tutf8", "-ww", "-P-c", *map(str, files)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    printed = re.sub(".\b", "", done.stdout)  # bold is each letter printed twice
    for line in ("heapwright compare -- ls -R /usr", "-q, --quiet", "PROGRAM…"):
        assert line in printed


def test_a_folder_has_to_be_named() -> None:
    words = [sys.executable, "-m", "heapwright.cli.manual"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        2,
        "usage: python -m heapwright.cli.manual FOLDER\n",
    )
