# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The server for comparisons: a load is a command like any other, which fails if an answer does."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest

from support.running import ran

SCRIPT = Path(__file__).parents[3] / "catalogue" / "studies" / "programs" / "httpd.sh"

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("httpd")]


def script(
    folder: Path, *words: str, extra: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs it with a folder of temporary files that others may read, as the server's pages."""
    folder.chmod(0o755)
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(folder), **(extra or {})}
    return ran([SCRIPT, *words], env=environment, timeout=120)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not below a folder of the tester alone, because the user of the server has to read there."""
    with tempfile.TemporaryDirectory(prefix="heapwright-script-", dir="/tmp") as name:
        yield Path(name)


def test_a_load_is_answered_and_nothing_is_left(folder: Path) -> None:
    done = script(folder, "load", "40", "small.txt", "page.shtml?number=1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not list(folder.iterdir())


@pytest.mark.slow
def test_the_instructions_of_a_request_are_counted_again(folder: Path) -> None:
    counted = [script(folder, "count", port, "40", "small.txt") for port in ("28463", "28464")]
    assert [each.returncode for each in counted] == [0, 0], counted
    one, other = (json.loads(each.stdout)["instructions_per_request"] for each in counted)
    assert 10_000 < one < 10_000_000
    assert abs(one - other) < 0.05 * one
    assert not list(folder.iterdir())


def test_a_count_without_counts_fails(folder: Path, tmp_path: Path) -> None:
    valgrind = tmp_path / "valgrind"
    valgrind.write_text(
        '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nexec "$@"\n', encoding="utf-8"
    )
    valgrind.chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = script(folder, "count", "28465", "40", "small.txt", extra=path)
    assert done.returncode == 1
    assert "valgrind wrote no counts" in done.stderr
    assert done.stdout == ""
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("words", "extra", "said"),
    [
        (["load", "10", "not-there.txt"], {}, "answers of not-there.txt are wrong"),
        (["load", "10"], {"HEAPWRIGHT_POOLS": "paper"}, "is stock, reap, emulated or a path"),
        (["load", "10"], {"HEAPWRIGHT_POOLS": "/not/there.so"}, "there is no /not/there.so"),
        (["load", "10"], {"HTTPD": "/not/there"}, "the server ended"),
        (["load"], {}, "usage"),
        (["ask", "9"], {}, "usage"),
        ([], {}, "usage"),
    ],
)
def test_errors_are_reported(
    folder: Path, words: list[str], extra: dict[str, str], said: str
) -> None:
    done = script(folder, *words, extra=extra)
    assert done.returncode == 1
    assert said in done.stderr
    assert not list(folder.iterdir())


def test_a_load_can_be_compared(
    folder: Path, httpd: ModuleType, needs_pools: Callable[[str], None], tmp_path: Path
) -> None:
    """With each kind of pools; the allocator below is proven in all processes."""
    needs_pools("reap")
    folder.chmod(0o755)
    levels = [f"glibc:HEAPWRIGHT_POOLS={pools}" for pools in ("reap", "emulated")]
    sets = [word for level in levels for word in ("--set", level)]
    words = ["compare", "-a", "glibc,lea", *sets, "-n", "1", "--warmup", "0"]
    json_file = tmp_path / "compared.json"
    environment = {
        **os.environ,
        "TMPDIR": str(folder),
        "XDG_STATE_HOME": str(tmp_path),
        "HEAPWRIGHT_NATIVE": str(httpd.native.native_dir()),
    }
    done = ran(
        [
            sys.executable,
            "-m",
            "heapwright",
            *words,
            "--json",
            json_file,
            "--",
            SCRIPT,
            "load",
            "50",
        ],
        env=environment,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(json_file.read_text())
    outcomes = [run["outcome"] for run in document["runs"]]
    assert outcomes == ["ok"] * 4
    assert not list(folder.iterdir())
