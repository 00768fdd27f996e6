# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What of the memory of a Go, Java or Node.js program malloc serves: docs/explanation/runtimes.md.

Each program requests blocks of one size from the heap of its language, and blocks of another size
from malloc. A recording shows which of them reach malloc.
"""

import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from heapwright.artefacts.profile.document import Profile
from heapwright.base.errors import ExitCode
from heapwright.base.native import native_dir
from heapwright.commands.record import record_command
from heapwright.profile.run import profile_trace
from support.running import ran

HERE = Path(__file__).parent
RUN = (sys.executable, "-m", "heapwright", "run", "-a", "granary", "--")
BLOCKS = 300
IN_MALLOC = 65_432
GO_HEAP = BLOCKS * 54_321
JAVA_HEAP = BLOCKS * 300_000
"""Bytes. The Java machine, which compiles the source first, requests about 14 MB for itself."""


class Facts(NamedTuple):
    """The requests of a program that reached malloc."""

    blocks: int
    """Requests of exactly `IN_MALLOC` bytes."""
    others: int
    """Bytes of live blocks at the peak, without those."""


def needed(program: str, package: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed (package {package})")
    return found


def facts(folder: Path, *command: str | Path) -> Facts:
    trace = folder / "trace"
    outcome, _ = record_command(tuple(map(str, command)), trace)
    assert outcome.status == 0
    profile: Profile = profile_trace(trace)
    blocks = [each.count for each in profile.sizes.top if each.size == IN_MALLOC]
    return Facts(sum(blocks), profile.peak_live_bytes - BLOCKS * IN_MALLOC)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert native_dir().exists()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LD_PRELOAD", raising=False)


@pytest.fixture(scope="module")
def go_programs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One program with C in it, and one without."""
    go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if go is None:
        pytest.skip("go is not installed (package golang-go)")
    folder = tmp_path_factory.mktemp("go")
    text = (HERE / "blocks.go.txt").read_text(encoding="utf-8")
    own = {"HOME": str(folder), "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local"}
    lines = text.splitlines(keepends=True)
    pure = "".join(line for line in lines if "C." not in line and '"C"' not in line)
    for name, c, source in (("with_c", "1", text), ("pure", "0", pure)):
        (folder / f"{name}.go").write_text(source, encoding="utf-8")
        built = ran(
            [go, "build", "-o", name, f"{name}.go"],
            cwd=folder,
            env={"PATH": os.environ["PATH"], **own, "CGO_ENABLED": c},
        )
        assert built.returncode == 0, built.stderr
    return folder / "with_c", folder / "pure"


@pytest.mark.compiles
def test_a_go_program_without_c_is_refused(go_programs: tuple[Path, Path]) -> None:
    _, pure = go_programs
    refused = ran([*RUN, pure])
    assert refused.returncode == ExitCode.NOT_STARTED
    assert "is a Go program without any C in it" in refused.stderr
    assert ran([pure]).returncode == 0


@pytest.mark.compiles
def test_malloc_serves_the_c_of_a_go_program_alone(
    go_programs: tuple[Path, Path], tmp_path: Path
) -> None:
    with_c, _ = go_programs
    blocks, others = facts(tmp_path, with_c)
    assert blocks == BLOCKS
    assert 0 < others < GO_HEAP / 10
    done = ran([*RUN, with_c])
    assert done.returncode == 0
    assert "its memory is Go's own heap" in done.stderr


@pytest.mark.programs
def test_malloc_serves_direct_buffers_of_java_and_not_its_heap(tmp_path: Path) -> None:
    command = (needed("java", "default-jre-headless"), HERE / "Blocks.java")
    blocks, others = facts(tmp_path, *command)
    assert blocks == BLOCKS
    assert 0 < others < JAVA_HEAP / 2
    assert ran([*RUN, *command]).returncode == 0


@pytest.mark.programs
def test_malloc_serves_buffers_of_node_and_not_its_objects(tmp_path: Path) -> None:
    node = needed("node", "nodejs")
    blocks, others = facts(tmp_path, node, HERE / "blocks.js", str(BLOCKS), str(IN_MALLOC))
    assert blocks == BLOCKS
    done = ran([*RUN, node, HERE / "blocks.js", str(BLOCKS), str(IN_MALLOC)])
    assert done.returncode == 0
    used_on_the_heap = int(done.stdout)
    assert 0 < others < used_on_the_heap / 2
