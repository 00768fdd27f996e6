# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Every case of heapwright-conformance, under every allocator of the catalogue.

The project's allocators must pass all of them. The C library is the suite's own control: it must
pass what a standard or its own manual demands. The peers are compared with the standards, with
their differences written down in differences.toml. That only shows how much the suite sees, and is
one of the longer proofs.
"""

import os
import subprocess
import tomllib
from collections.abc import Iterable
from itertools import product
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from heapwright.artefacts.allocator.catalogue import PeerAllocator, SystemAllocator, read_catalogue
from heapwright.artefacts.allocator.user_registry import built_peers
from heapwright.base import native
from support.running import ran

HERE = Path(__file__).parent
CATALOGUE = read_catalogue(HERE.parents[2] / "catalogue" / "allocators.toml")
DIFFERENCES = tomllib.loads((HERE / "differences.toml").read_text(encoding="utf-8"))
SKIPPED = 77
TIMEOUT_S = 150
"""More than `watchdogSeconds` of native/conformance/main.cpp: the program states the failure."""
FOREIGN = ("LD_", "MALLOC_", "GLIBC_")

try:
    PROGRAM = native.program("conformance")
except native.NativeMissingError as missing:
    pytest.skip(f"heapwright-conformance is not built: {missing}", allow_module_level=True)


def cases() -> dict[str, str]:
    """The suite's cases, and the source of each demand."""
    listing = subprocess.run([PROGRAM, "--list"], capture_output=True, text=True, check=True)
    rows = (line.split("\t") for line in sorted(listing.stdout.splitlines()))
    return {name: demand for name, demand, _ in rows}


CASES = cases()


def run(arguments: list[str], extra: dict[str, str]) -> subprocess.CompletedProcess[str]:
    plain = {key: value for key, value in os.environ.items() if not key.startswith(FOREIGN)}
    return ran([PROGRAM, *arguments], env=plain | extra, timeout=TIMEOUT_S)


def verdict(case: str, extra: dict[str, str], *, silent: bool = True) -> None:
    """Run one case. If `silent`, any output beside the verdict is a failure too."""
    finished = run([case], extra)
    if finished.returncode == SKIPPED:
        pytest.skip(finished.stdout.removeprefix("skip: ").strip())
    assert (finished.returncode, finished.stdout) == (0, ""), finished.stderr
    assert not silent or finished.stderr == ""


@pytest.mark.each_allocator
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("allocator", [entry.name for entry in CATALOGUE.composed])
def test_ours(allocator: str, case: str) -> None:
    verdict(case, {"LD_PRELOAD": str(native.library(allocator))})


def of_others(names: Iterable[str], demands: set[str]) -> list[ParameterSet]:
    """The cases that others are held to; those in which one is known to differ may fail."""
    parameters = []
    for name, (case, demand) in product(names, CASES.items()):
        reason = DIFFERENCES.get(name, {}).get(case)
        hangs = case in DIFFERENCES["hangs"].get(name, [])
        # Not strict: another version of it may have come nearer.
        mark = pytest.mark.xfail(reason=reason or "hangs", run=not hangs, strict=False)
        if demand in demands:
            marks = [mark] if reason or hangs else []
            parameters.append(pytest.param(name, case, marks=marks))
    return parameters


@pytest.mark.parametrize(("allocator", "case"), of_others(["glibc"], {"standard", "glibc"}))
def test_the_c_library_as_control(allocator: str, case: str) -> None:
    entry = CATALOGUE.find(allocator)
    assert isinstance(entry, SystemAllocator)
    verdict(case, dict(entry.environment))


def loadable(peer: PeerAllocator) -> str:
    """The first of its names that the loader finds, or that was built here."""
    built = built_peers(os.environ)
    for name in [*peer.sonames, *(str(built / each) for each in peer.sonames)]:
        if not run(["--list"], {"LD_PRELOAD": name}).stderr:
            return name
    pytest.skip(f"{peer.name} is not there ({peer.package or 'make peers'})")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("allocator", "case"), of_others([peer.name for peer in CATALOGUE.peers], {"standard"})
)
def test_peers(allocator: str, case: str) -> None:
    entry = CATALOGUE.find(allocator)
    assert isinstance(entry, PeerAllocator)
    # Some tell of a failure on standard error, which is no fault.
    verdict(case, {"LD_PRELOAD": loadable(entry)}, silent=False)


def test_every_difference_is_of_a_case_that_exists() -> None:
    for name, cases_of in DIFFERENCES.items():
        listed = (
            [case for group in cases_of.values() for case in group] if name == "hangs" else cases_of
        )
        assert set(listed) <= CASES.keys()


def test_bad_names_are_refused() -> None:
    finished = run(["no-such-case"], {})
    assert finished.returncode == 2
    assert "no case is called no-such-case" in finished.stderr
    assert run([], {}).returncode == 2
