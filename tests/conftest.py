# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What all tests share: where everything optional is installed, a skip is a failure.

A test that misses an optional part skips and names it. Continuous integration installs every part
and sets HEAPWRIGHT_NO_SKIP, so that a test which silently stopped running is noticed there.

A test marked `each_allocator` asks the same of each composed allocator. `make test`
runs it under the representatives, and `make test-programs` runs it under the others.
`make test` runs real programs under granary, and the stress under granary and one more
representative. `make test-programs` runs the rest of them. Of real programs, it gives each other
allocator a quarter, and each program a quarter of these allocators. `make test-all` runs all pairs.

A test marked `long` takes minutes. It is among the first of its process, because the others would
wait for it at the end.

Tests in the background, or under nohup, ignore an interrupt or a terminal that closes. Every
program that they start would too, but some are there to be interrupted.
"""

import os
import re
import signal
import zlib
from collections.abc import Callable, Generator, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from heapwright.artefacts.allocator.catalogue import read_catalogue
from heapwright.artefacts.trace.file import TraceFormat, import_trace
from heapwright.base.native import NativeMissingError, program
from heapwright.kernel.folders import kernel_cache

# No test asserts a time, and none may fail because the machine has other work.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def _no_width_of_the_runner() -> None:
    """The parallel runner exports the width of its terminal, which tables would obey."""
    os.environ.pop("COLUMNS", None)


# The tree's own registry: which allocators there must be does not depend on what is installed.
CATALOGUE = read_catalogue(Path(__file__).parents[1] / "catalogue" / "allocators.toml")
COMPOSED = {entry.name for entry in CATALOGUE.composed}
REPRESENTATIVES = {
    "kingsley": "power-of-two classes, nothing splits or merges",
    "lea": "blocks split and merge at once, behind quicklists",
    "vmalloc": "best fit from a tree, merging late",
    "hoard": "superblocks, many heaps, a global one",
    "granary": "caches of threads over superblocks that threads own",
}
assert REPRESENTATIVES.keys() <= COMPOSED
ALWAYS = "granary"
TESTS = Path(__file__).parent
PROGRAMS = TESTS / "acceptance" / "programs"
STRESS = TESTS / "acceptance" / "stress"
TURNS = 4


def pytest_configure(config: pytest.Config) -> None:
    """Each process of the parallel runner begins to collect at another file.

    It takes long to prepare the assertions of all files. A process reads what another one has
    prepared, but at the same time they would all prepare the same file.
    """
    worker = getattr(config, "workerinput", None)
    is_whole = [Path(each).resolve() for each in config.args] == [TESTS]
    if worker is not None and is_whole and not config.getoption("ignore"):
        files = sorted(TESTS.rglob("test_*.py"))
        number = int(worker["workerid"].removeprefix("gw"))
        begin = len(files) * number // int(worker["workercount"])
        config.args = [str(each) for each in (*files[begin:], *files[:begin])]


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, None, None]:
    """Gives the markers of targets before tests are selected by them, and the order after that."""
    items.sort(key=lambda item: item.path)  # all processes must have the same
    for item in items:
        if item.get_closest_marker("each_allocator") is not None:
            assert isinstance(item, pytest.Function)
            _mark_target(item)
    _refuse_hidden_markers(items)
    yield
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    items[:] = _long_ones_first(items, processes)


def _refuse_hidden_markers(items: list[pytest.Item]) -> None:
    """scripts/test.sh looks for these markers in the files, to collect no others."""
    for item in items:
        for marker in ("programs", "compiles"):
            if item.get_closest_marker(marker) and marker not in _markers_named(item.path):
                raise pytest.UsageError(f"{item.nodeid}: its file does not name mark.{marker}")


@cache
def _markers_named(file: Path) -> set[str]:
    """The markers that a file or a conftest.py of its folders names."""
    folders = [folder for folder in file.parents if TESTS in folder.parents]
    paths = [file, *(folder / "conftest.py" for folder in folders)]
    text = "".join(path.read_text(encoding="utf-8") for path in paths if path.exists())
    found = set(re.findall(r"mark\.(\w+)", text))
    return found | {"programs"} if "each_allocator" in found else found


def _mark_target(item: pytest.Function) -> None:
    """Leaves the allocators that represent no kind of heap to `make test-programs`, and where it
    takes long most of the others too."""
    values = item.callspec.params.values()
    for allocator in COMPOSED.intersection(each for each in values if isinstance(each, str)):
        represents = allocator in REPRESENTATIVES
        if not represents or (
            not {PROGRAMS, STRESS}.isdisjoint(item.path.parents) and not _is_quick(item, allocator)
        ):
            item.add_marker(pytest.mark.programs)
        if not represents and PROGRAMS in item.path.parents and not _has_its_turn(item, allocator):
            item.add_marker(pytest.mark.slow)


def _is_quick(item: pytest.Function, representative: str) -> bool:
    """Whether `make test` runs this long test under this allocator."""
    if PROGRAMS in item.path.parents:
        return representative == ALWAYS
    others = sorted(REPRESENTATIVES.keys() - {ALWAYS})
    return representative in {ALWAYS, others[_turn_of(item) % len(others)]}


def _has_its_turn(item: pytest.Function, allocator: str) -> bool:
    """Whether `make test-programs` runs this test of a program under this allocator."""
    others = sorted(COMPOSED - REPRESENTATIVES.keys())
    return (others.index(allocator) + _turn_of(item)) % TURNS == 0


def _turn_of(item: pytest.Function) -> int:
    """A number that each program has to itself."""
    return zlib.crc32(f"{item.originalname} {item.callspec.params.get('name', '')}".encode())


def _long_ones_first(items: list[pytest.Item], processes: int) -> list[pytest.Item]:
    """The parallel runner cuts the list into one part for each process; tests marked `long` stand
    at the beginnings of the parts."""
    long = [item for item in items if item.get_closest_marker("long") is not None]
    others = iter([item for item in items if item.get_closest_marker("long") is None])
    ordered: list[pytest.Item] = []
    for part in range(processes):
        size = (len(items) - len(ordered)) // (processes - part)
        first = long[part::processes]
        ordered += [*first, *islice(others, max(0, size - len(first)))]
    return [*ordered, *others]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if os.environ.get("HEAPWRIGHT_NO_SKIP") and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} skipped where nothing may: {reason}"
    return report


@pytest.fixture(scope="session", autouse=True)
def cache_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keeps the user's cache folder out of the tests, but for kernels, which take long to build."""
    kernels = kernel_cache(os.environ)
    base = tmp_path_factory.mktemp("cache")
    (base / "heapwright").mkdir()
    if kernels.is_dir():
        (base / "heapwright" / "kernels").symlink_to(kernels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(base))
        yield


@pytest.fixture(scope="session")
def needs_programs() -> Callable[..., None]:
    """Skips where one of the named programs of the project is not installed."""

    def need(*names: str) -> None:
        try:
            for name in names:
                program(name)
        except NativeMissingError as error:
            pytest.skip(f"{error.message}: {error.hint}")

    return need


@pytest.fixture(scope="session")
def trace_of_text(needs_programs: Callable[..., None]) -> Callable[[Path, str], Path]:
    """Makes a trace, in a folder, of calls that are written as Android's text traces have them."""

    def make(folder: Path, calls: str) -> Path:
        needs_programs("trace")
        text, made = folder / "calls.txt", folder / "calls.trace"
        text.write_text(calls, encoding="utf-8")
        import_trace(text, made, TraceFormat.ANDROID)
        return made

    return make
