# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that leak, retain and grow by construction, explained by the command line."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from heapwright.artefacts.explanation.document import Ending, Explanation, Kind
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from support.running import ran

FOREIGN = ("LD_", "MALLOC_", "GLIBC_", "TCMALLOC_", "MIMALLOC_")
MIB = 1 << 20
TIMEOUT_S = 120
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
Build = Callable[[str], str]


@pytest.fixture(autouse=True)
def _compiled() -> None:
    try:
        for name in ("record", "profile", "trace", "leakscan"):
            native.program(name)
    except HeapwrightError as error:
        pytest.skip(f"needs the compiled parts: {error}")


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)} | dict(extra or {})


def run(*words: str, extra: Mapping[str, str] | None = None) -> Explanation:
    """What `heapwright explain` answers."""
    done = ran(
        [sys.executable, "-m", "heapwright", "explain", "-q", "--json", "-", *words],
        env=environment(extra),
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0, done.stderr
    found = Explanation.from_json(done.stdout)
    assert found.sentence in done.stderr
    return found


@contextmanager
def waiting(trace: Path, *command: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """The process id of a recorded program, once it does no more than wait."""
    words = [str(native.program("record")), "--trace", str(trace)]
    words += ["--preload", str(native.library("recorder")), "--", *command]
    with subprocess.Popen(words, env=environment(), start_new_session=True) as launched:
        children = Path(f"/proc/{launched.pid}/task/{launched.pid}/children")
        try:
            deadline = time.monotonic() + TIMEOUT_S
            while not (pids := children.read_text(encoding="ascii").split()) or not paused(pids[0]):
                assert time.monotonic() < deadline
                time.sleep(0.01)
            yield int(pids[0]), launched
        finally:
            with suppress(FileNotFoundError):  # it is over already
                for pid in children.read_text(encoding="ascii").split():
                    os.kill(int(pid), signal.SIGKILL)


def paused(pid: str) -> bool:
    """Whether it is in pause(2), number 34 on x86-64."""
    words = Path(f"/proc/{pid}/syscall").read_text(encoding="ascii").split()
    return words[:1] == ["34"]


def test_a_leak_and_its_place(built: Build) -> None:
    found = run("--", built("leak"))
    assert (found.kind, found.ending, found.allocator) == (Kind.LEAK, Ending.EXITED, "glibc")
    assert found.reachability is not None
    # The last block may be in a register or in what the recorder remembers.
    assert 5990 <= found.reachability.unreachable_blocks <= found.reachability.blocks == 6000
    assert found.never_freed_bytes == 6_000_000
    assert any("forget" in frame for frame in found.culprits[0].frames)
    assert "forget" in found.sentence


@pytest.mark.parametrize("fate", ["free", "keep"])
def test_growth(built: Build, fate: str) -> None:
    found = run("--", built("growth"), fate)
    assert found.kind is Kind.GROWTH
    assert found.rise_bytes > 3 * MIB
    assert found.reachability is not None
    assert found.reachability.unreachable_bytes == 0
    assert found.never_freed_blocks == (6000 if fate == "keep" else 0)


SETTINGS = {
    "top": {"MALLOC_TRIM_THRESHOLD_": "131072"},
    "arenas": {"MALLOC_ARENA_MAX": "1"},
    "holes": {},
}


@pytest.mark.parametrize("where", SETTINGS)
def test_retention_and_the_setting_that_helps(built: Build, where: str) -> None:
    found = run("--", built("retention"), where)
    assert found.kind is Kind.RETENTION
    assert found.most_held_bytes is not None
    # The program holds 48 MiB. The recorder samples this figure, and on a busy machine the last
    # sample before the end may miss a part.
    assert found.most_held_bytes > 8 * MIB
    assert found.setting is not None
    assert found.setting.assignments == SETTINGS[where]
    if where == "holes":
        assert "malloc_trim" in found.sentence
        return
    better = run("--", built("retention"), where, extra=found.setting.assignments)
    assert late(better) < late(found) / 4


def late(found: Explanation) -> int:
    """What was held at the end."""
    return found.moments[-1].held_bytes or 0


@pytest.mark.parametrize("name", ["jemalloc", "tcmalloc", "mimalloc"])
def test_the_setting_of_another_allocator_helps_there(built: Build, name: str) -> None:
    files = {
        "jemalloc": ("libjemalloc.so.2", "libjemalloc2"),
        "tcmalloc": ("libtcmalloc_minimal.so.4", "libtcmalloc-minimal4"),
        "mimalloc": ("libmimalloc.so.2.0", "libmimalloc2.0"),
    }
    library = LIBRARIES / files[name][0]
    if not library.exists():
        pytest.skip(f"{library} is not there (package {files[name][1]})")
    preload = {"LD_PRELOAD": str(library)}
    found = run("--", built("retention"), "top", extra=preload)
    assert (found.kind, found.allocator) == (Kind.RETENTION, name)
    assert found.setting is not None
    assert found.setting.assignments
    better = run("--", built("retention"), "top", extra={**preload, **found.setting.assignments})
    assert late(better) < late(found) / 4


def test_the_parts_of_resident_memory_are_all_of_it(built: Build) -> None:
    found = run("--", built("retention"), "holes")
    most = max(found.moments, key=lambda moment: moment.held_bytes or 0)
    parts = (most.live_bytes, most.waste_bytes, most.held_bytes, most.other_bytes)
    assert None not in parts
    assert sum(part or 0 for part in parts) == most.resident_bytes
    # One block in sixteen of 48 * 1024 stays, each of 1008 bytes in a chunk of 1024.
    assert most.live_bytes == pytest.approx(3072 * 1008, rel=0.01)
    assert most.held_bytes == pytest.approx(46080 * 1024, rel=0.02)


@pytest.mark.parametrize(("name", "kind"), [("leak", Kind.LEAK), ("growth", Kind.GROWTH)])
def test_a_running_process_goes_on_after_it_was_explained(
    built: Build, tmp_path: Path, name: str, kind: Kind
) -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("knows the number of pause(2) on x86-64 alone")
    with waiting(tmp_path / "trace", built(name), "wait") as (pid, _):
        found = run("--pid", str(pid))
        again = run("--pid", str(pid))
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
    assert (found.kind, found.ending) == (kind, Ending.RUNNING)
    assert found.reachability == again.reachability is not None
    assert state == "S"


def test_a_killed_program_is_explained_from_its_trace(built: Build, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    with waiting(trace, built("growth"), "wait") as (pid, launched):
        os.kill(pid, signal.SIGKILL)
        launched.wait(timeout=TIMEOUT_S)
    found = run(str(trace))
    assert (found.kind, found.ending) == (Kind.GROWTH, Ending.KILLED)
    assert "killed" in found.sentence
    assert found.never_freed_blocks == 6000


def test_the_end_of_the_program_ends_the_course(built: Build, tmp_path: Path) -> None:
    """What a program built at first is no growth, whether the program or its trace is explained."""
    trace = tmp_path / "trace"
    words = [str(native.program("record")), "--trace", str(trace), "--stacks"]
    words += ["--preload", str(native.library("recorder")), "--", built("growth"), "rest"]
    subprocess.run(words, env=environment(), check=True, timeout=TIMEOUT_S, capture_output=True)
    assert run(str(trace)).kind is Kind.STEADY
    assert run("--", built("growth"), "rest").kind is Kind.STEADY


def test_blocks_live_when_the_recording_stopped_are_not_lost(built: Build, tmp_path: Path) -> None:
    """The program frees it all later, and that is not recorded."""
    trace = tmp_path / "trace"
    words = [str(native.program("record")), "--trace", str(trace), "--limit", str(320 << 10)]
    words += ["--preload", str(native.library("recorder")), "--", built("growth"), "free"]
    subprocess.run(words, env=environment(), check=True, timeout=TIMEOUT_S, capture_output=True)
    done = ran(
        [sys.executable, "-m", "heapwright", "explain", "-q", str(trace)],
        env=environment(),
        timeout=TIMEOUT_S,
    )
    assert done.stdout.startswith("Growth: ")
    assert "how the program ended is not known" in done.stdout
    assert "Recording stopped early: the trace had come to its limit" in done.stderr


def test_a_leak_beside_a_larger_cache_is_named(built: Build) -> None:
    found = run("--", built("course"), "beside")
    assert [each.kind for each in found.findings] == [Kind.LEAK]
    assert "forget" in found.culprits[0].place
    assert found.findings[0].rate_bytes_per_s


def test_a_slow_leak_beside_a_base_of_main_is_named(built: Build) -> None:
    """The base is not lost: `main` pointed to it until it returned."""
    found = run("--", built("course"), "base")
    assert [each.kind for each in found.findings] == [Kind.LEAK]
    assert "forget" in found.culprits[0].place
    assert found.reachability is not None
    assert found.reachability.unreachable_bytes <= 400_000


@pytest.mark.parametrize(
    ("what", "fate"), [("global", "it was freed at the end"), ("_exit", "it was never freed")]
)
def test_growth_until_any_kind_of_end_is_growth(built: Build, what: str, fate: str) -> None:
    found = run("--", built("course"), what)
    assert [each.kind for each in found.findings] == [Kind.GROWTH]
    assert "keep_item" in found.sentence
    assert "nothing was lost" in found.sentence
    assert fate in found.sentence


def test_the_place_is_the_programs_own_function(built: Build) -> None:
    found = run("--", built("course"), "sessions")
    assert found.kind is Kind.GROWTH
    assert "open_session" in found.sentence
    assert found.culprits[0].frames[0].startswith(("operator new", "std::"))


@pytest.mark.parametrize("function", ["match_rule", "list_folder"])
def test_the_place_is_outside_of_the_c_library(tmp_path: Path, function: str) -> None:
    """The names of the functions inside of the library have no influence."""
    source, program = tmp_path / "library.c", tmp_path / "library"
    source.write_text(
        "#define _GNU_SOURCE\n#include <dirent.h>\n#include <regex.h>\n"
        "__attribute__((noinline)) void match_rule(void) {\n"
        '    regex_t rule;\n    regcomp(&rule, "a.*[b-d]+x", 0);\n}\n'
        "__attribute__((noinline)) void list_folder(void) {\n"
        '    struct dirent** found;\n    scandir("/", &found, 0, alphasort);\n}\n'
        f"int main(void) {{\n    for (int i = 0; i < 200; ++i) {function}();\n    return 0;\n}}\n",
        encoding="utf-8",
    )
    if subprocess.run(["cc", "-O1", "-g", str(source), "-o", str(program)], check=False).returncode:
        pytest.skip("cc does not work here")
    found = run("--", str(program))
    assert found.kind is Kind.LEAK
    assert {each.place.split(" ")[0] for each in found.culprits} == {function}


def test_a_growth_of_a_forked_process_is_no_leak(built: Build) -> None:
    found = run("--", built("course"), "child")
    assert [each.kind for each in found.findings] == [Kind.GROWTH]
    assert "one of 2 that allocated memory" in found.sentence
    assert found.process == 1


def test_each_process_that_loses_memory_is_named(built: Build) -> None:
    found = run("--", built("course"), "workers")
    assert found.kind is Kind.LEAK
    assert {found.process} < {1, 2}
    other = 3 - (found.process or 0)
    assert f"This is process {found.process} (course, pid " in found.sentence
    assert f"Process {other} (course, pid " in found.sentence
    assert "loses memory as well: 3" in found.sentence, "some 390 KiB"


def test_blocks_in_use_until_the_teardown_are_not_lost(built: Build) -> None:
    found = run("--", built("course"), "teardown")
    assert found.kind is Kind.STEADY, found.sentence


def test_a_trace_does_not_tell_whether_memory_was_lost(built: Build, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    run("-o", str(trace), "--", built("course"), "beside")
    found = run(str(trace))
    assert found.kind is Kind.GROWTH
    assert "forget" in found.culprits[0].place
    assert "perhaps it is a leak" in found.sentence


def test_the_heap_of_an_interpreter_is_named(tmp_path: Path) -> None:
    script = tmp_path / "keeps.py"
    script.write_text(
        "import time\n"
        "kept = []\n"
        "for step in range(20):\n"
        "    kept.append([{'number': i} for i in range(15000)])\n"
        "    time.sleep(0.05)\n",  # time enough to be sampled on a busy machine
        encoding="utf-8",
    )
    found = run("--", sys.executable, str(script))
    assert (found.kind, found.runtime) == (Kind.ELSEWHERE, "CPython")
    assert "PYTHONMALLOC=malloc" in found.sentence


def test_a_shell_that_becomes_an_interpreter_has_no_heap_of_its_own() -> None:
    script = "exec env /usr/bin/python3 -c 'sum(range(10**7))'"
    if not Path("/usr/bin/python3").exists():
        pytest.skip("needs /usr/bin/python3 (package python3)")
    found = run("--", "sh", "-c", script)
    assert found.coverage is not None
    heaps = {each.name: each.own_heap for each in found.coverage.processes}
    assert heaps.pop(next(name for name in heaps if name.startswith("python3"))) == "CPython"
    assert set(heaps.values()) <= {""}


def test_a_setting_that_the_command_has_is_not_advised(built: Build) -> None:
    found = run("--", built("retention"), "top", extra={"MALLOC_TRIM_THRESHOLD_": "131072"})
    assert found.setting is None or "MALLOC_TRIM_THRESHOLD_" not in found.setting.assignments


def refused(*words: str) -> str:
    done = ran(
        [sys.executable, "-m", "heapwright", "explain", *words],
        env=environment(),
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 2, done.stdout
    assert "Traceback" not in done.stderr
    return done.stderr


def test_an_unexplained_difference_is_reported(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no trace")
    assert "one thing is explained" in refused()
    assert "there is no command" in refused("--")
    assert "is not recorded" in refused("--pid", str(os.getpid()))
    assert str(text) in refused(str(text))
    assert "-o keeps the trace" in refused("-o", str(tmp_path / "t"), str(text))
