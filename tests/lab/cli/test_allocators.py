# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright allocators` and `heapwright allocators show`."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import read_catalogue
from heapwright.artefacts.run.provenance import Allocator
from heapwright.base.errors import ExitCode

from .tools import Heapwright, forwarding, library

pytestmark = pytest.mark.usefixtures("native")
NAMES = read_catalogue(Path(__file__).parents[3] / "catalogue" / "allocators.toml").names


def test_the_list_has_every_name_once(heapwright: Heapwright) -> None:
    done = heapwright("allocators")
    assert done.status == 0
    assert [line.split()[0] for line in done.out.splitlines()[1 : 1 + len(NAMES)]] == list(NAMES)
    assert "effective" in done.out


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_list_is_as_wide_as_the_terminal(
    heapwright: Heapwright, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    done = heapwright("allocators")
    assert max(map(len, done.out.splitlines())) <= columns
    assert set(NAMES) <= set(done.out.replace(",", " ").split())


def test_paths_are_printed_on_request(heapwright: Heapwright) -> None:
    plain, paths = heapwright("allocators").out, heapwright("allocators", "--paths").out
    assert "libheapwright-lea.so" not in plain
    assert "libheapwright-lea.so" in paths
    assert max(map(len, plain.splitlines()[: 1 + len(NAMES)])) <= 80


def test_the_list_as_json(heapwright: Heapwright) -> None:
    found = [
        Allocator.model_validate(each)
        for each in json.loads(heapwright("allocators", "--json").out)
    ]
    assert [allocator.name for allocator in found] == list(NAMES)
    assert all(allocator.effective for allocator in found if allocator.name in ("lea", "glibc"))


def test_one_of_ours_is_drawn_as_its_layers(heapwright: Heapwright) -> None:
    done = heapwright("allocators", "show", "lea")
    assert done.status == 0
    (allocator,) = [
        a for a in json.loads(heapwright("allocators", "--json").out) if a["name"] == "lea"
    ]
    layers = []

    def walk(layer: dict[str, object]) -> None:
        layers.append(layer["layer"])
        for below in layer["below"]:  # type: ignore[attr-defined]
            walk(below)

    walk(allocator["composition"])
    assert len(layers) > 4
    for layer in layers:
        assert layer in done.out
    assert allocator["path"] in done.out


def test_one_as_json(heapwright: Heapwright) -> None:
    allocator = Allocator.model_validate(
        json.loads(heapwright("allocators", "show", "glibc", "--json").out)
    )
    assert allocator.name == "glibc"
    assert allocator.path is None


def test_a_library_by_its_path(heapwright: Heapwright, tmp_path: Path) -> None:
    path = forwarding(tmp_path / "mine.so")
    done = heapwright("allocators", "show", "./mine.so")
    assert done.status == 0
    assert str(path) in done.out
    assert "preload effective" in done.out
    library(tmp_path / "none.so", "int nothing;\n")
    done = heapwright("allocators", "show", "./none.so")
    assert "not usable" in done.out
    assert "it defines no malloc" in done.out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("./nosuch.so", "does not exist"),
        ("./folder.so", "is not a file"),
        ("nosuch.so", "there is no such file here"),
    ],
)
def test_a_library_that_is_not_there_is_refused(
    heapwright: Heapwright, tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / "folder.so").mkdir()
    done = heapwright("allocators", "show", name)
    assert done.status == ExitCode.BAD_INPUT
    assert said in done.err
    assert not done.out


def test_an_unknown_name_suggests_the_nearest(heapwright: Heapwright) -> None:
    done = heapwright("allocators", "show", "kingsly")
    assert done.status == ExitCode.BAD_INPUT
    assert "did you mean kingsley?" in done.err


def test_a_closed_output_pipe_ends_without_an_error_message() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "heapwright", "allocators"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert done.stderr == b""
    assert done.returncode == 128 + signal.SIGPIPE


def test_an_installation_without_its_parts_reports_it(
    heapwright: Heapwright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEAPWRIGHT_NATIVE", str(tmp_path))
    done = heapwright("allocators")
    assert done.status == ExitCode.BAD_INPUT
    assert f"there are no compiled parts in {tmp_path}" in done.err
