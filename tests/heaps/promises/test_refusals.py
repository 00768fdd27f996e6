# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Little memory: limits, and a system that refuses any one call, or all from any one on.

What is not served is null with ENOMEM, nothing changes, and all can be had again when the system
gives again.
"""

import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest

from support.running import ran

from .building import (
    PROMISING,
    TIMEOUT_S,
    TOLD,
    assert_quiet_success,
    compiled,
    environment,
    library,
    run,
)

MEMORY_CGROUPS = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
LIMIT = 64 * 1024 * 1024
SWEEPS = ["each", "each-and-all-after"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("refusals")


@pytest.fixture(scope="session")
def refusals(folder: Path) -> str:
    return str(compiled(folder, "refusals.c"))


def swept(folder: Path, refusals: str, allocator: str, scene: str, count: int) -> int:
    """The number of the last call that was refused, of those that there are."""
    between = str(compiled(folder, "refuse.c", "-shared", "-fPIC"))
    done = run([refusals, scene, str(count)], between, library(allocator))
    assert (done.returncode, done.stderr) == (0, "")
    return int(done.stdout)


@pytest.mark.parametrize("scene", SWEEPS)
@pytest.mark.parametrize("allocator", PROMISING)
def test_any_call_may_be_refused(folder: Path, refusals: str, allocator: str, scene: str) -> None:
    """All in turn. The hardened form opens and closes pages, thousands of times: the first of its
    calls, and then some."""
    count = 0 if allocator in TOLD else 12
    assert swept(folder, refusals, allocator, scene, count) >= 10, "the load asks for something"


@pytest.mark.slow
@pytest.mark.parametrize("scene", SWEEPS)
@pytest.mark.parametrize("allocator", sorted(set(PROMISING) - set(TOLD)))
def test_more_calls_may_be_refused(folder: Path, refusals: str, allocator: str, scene: str) -> None:
    assert swept(folder, refusals, allocator, scene, 100) >= 1000, "there are more of them"


@pytest.mark.parametrize("scene", ["addresses", "data"])
@pytest.mark.parametrize("allocator", TOLD)
def test_allocators_survive_resource_limits(refusals: str, allocator: str, scene: str) -> None:
    """Not of the hardened form, which has less the second time: what was freed waits, closed."""
    assert_quiet_success([refusals, scene], library(allocator))


@pytest.fixture
def memory_group() -> Generator[Path]:
    """A control group with little memory, of either version."""
    for parent in MEMORY_CGROUPS:
        group = parent / f"heapwright-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            for name in ("memory.limit_in_bytes", "memory.max"):
                if (group / name).exists():
                    (group / name).write_text(str(LIMIT), encoding="ascii")
                    yield group
                    return
        except OSError:
            continue
        finally:
            group.rmdir()
    pytest.skip("needs a control group for memory that may be written")


@pytest.mark.parametrize("allocator", PROMISING)
def test_a_group_with_little_memory_is_enough(
    refusals: str, memory_group: Path, allocator: str
) -> None:
    """24 MiB at a time, 4 GiB in all, in a group of 64 MiB. A process beyond it is killed."""

    def join() -> None:
        (memory_group / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")

    done = ran(
        [refusals, "within", "4096"],
        env=environment(library(allocator)),
        preexec_fn=join,
        timeout=TIMEOUT_S,
    )
    assert done.returncode != -signal.SIGKILL, "the group had too little memory for it"
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
