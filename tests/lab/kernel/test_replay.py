# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A trace is replayed in a kernel of its own, and what the kernel reports is read whole."""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from heapwright.artefacts.kernel_study.replay import KernelReplay, KernelReplays
from heapwright.artefacts.kernelsim.document import MODELS
from heapwright.artefacts.run.provenance import sha256_of
from heapwright.base.errors import HeapwrightError
from heapwright.commands import kernel_replay
from heapwright.commands.kernel_replay import Options
from heapwright.commands.output import Outputs
from heapwright.kernel import replay
from heapwright.kernel.boot import Asked, BootOutput, MachineExtras
from heapwright.kernel.build import build, plan
from heapwright.kernel.folders import ALLOCATORS, kernel_cache
from heapwright.kernel.image_cache import Built, find
from heapwright.kernel.machine import QEMU, Machine
from heapwright.kernel.records import GuestError
from heapwright.kernel.replay import FOLDER, PATH, read_report, replay_plan, replayed
from heapwright.kernel.replay_file import CACHE, EVENT, HEAD, ReplayFile, Verb, compact
from heapwright.kernel.source import ARCHIVE, Source, find_source
from heapwright.kernelsim.program import ModelRuns, run_trace

from .ring_pages import line
from .test_replay_file import TRACE

BUILT = Built("key", "slqb", "6.1", "", Path())
REPORT = ("base 1700", "mark 2100", "mark 2120", "mark 1710", "end 900 200 1")


def report(lines: Sequence[str] = REPORT) -> KernelReplay:
    return read_report(lines, BUILT, Machine(Path(), Path(), 300), 2)


def test_a_report_becomes_memory_beyond_the_kernels_own_and_time_without_the_loop() -> None:
    found = report()
    assert found.slab_pages == (400, 420)
    assert (found.kept_pages, found.request_ns, found.refused) == (10, 700, 1)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (REPORT[:-1], "is incomplete: it has 3 of 3 marks"),
        (REPORT[1:], "is incomplete"),
        ((*REPORT[:2], REPORT[-1]), "has 1 of 3 marks"),
        ((), "has 0 of 3 marks"),
        ((*REPORT, "mark 1 2"), "has the line 'mark 1 2'"),
        ((*REPORT[:-1], "end 1 2"), "has the line 'end 1 2'"),
    ],
)
def test_a_report_with_a_hole_is_refused(lines: tuple[str, ...], said: str) -> None:
    with pytest.raises(GuestError, match=said):
        report(lines)


def test_a_kernel_with_the_replay_has_another_name_than_the_one_that_is_measured() -> None:
    source = Source(Path("linux.tar.xz"), "6.1.0-1")
    keys = set()
    for allocator in ALLOCATORS:
        plain = plan(allocator, source)
        wanted = replay_plan(plain)
        assert wanted.patches[:-1] == plain.patches
        assert wanted.fragments[-1].symbols["HEAPWRIGHT_REPLAY"] == "y"
        keys |= {plain.key, wanted.key}
    assert len(keys) == 2 * len(ALLOCATORS)


def guest(
    monkeypatch: pytest.MonkeyPatch, raw: bytes, console: str = "the console's end"
) -> list[tuple[Asked, MachineExtras]]:
    """Replaces the machine by one that sends these records. Returns its boots."""
    asked: list[tuple[Asked, MachineExtras]] = []

    def ran(
        built: Built, wanted: Asked, _cache: Path, extras: MachineExtras
    ) -> tuple[Machine, BootOutput]:
        asked.append((wanted, extras))
        machine = Machine(built.image, built.image, wanted.load.memory_mib, wanted.cpus)
        return machine, BootOutput(raw, (console,))

    monkeypatch.setattr(replay, "ran", ran)
    monkeypatch.setattr(replay, "find_qemu", lambda: QEMU)
    monkeypatch.setattr(replay, "qemu_version", lambda _: "QEMU 7.2")
    return asked


def begin(cpus: int = 2, allocator: str = "slqb") -> bytes:
    return line("begin", allocator=allocator, cpus=cpus, load="replay", seed=1)


SENT = b"".join(line("output", line=each) for each in REPORT)


def test_the_guest_gets_the_file_its_processors_and_memory_beyond_that_of_the_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = guest(monkeypatch, begin() + SENT + line("end"))
    file = compact(TRACE.splitlines())
    found = replayed(BUILT, file, Path(), 60)
    ((wanted, extras),) = asked
    assert (wanted.cpus, wanted.load.name, wanted.load.timeout_s) == (2, "replay", 60)
    assert wanted.load.memory_mib > file.memory_mib
    assert extras.files[PATH].data == file.data
    assert (found.kernel.allocator, found.slab_pages) == ("slqb", (400, 420))
    assert (found.memory_mib, found.emulator) == (wanted.load.memory_mib, "QEMU 7.2")
    assert found.time == "the host's (emulated)"


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (begin() + SENT, "died in the middle"),
        (begin(allocator="slub") + SENT + line("end"), "runs slub and was to run slqb"),
        (begin(cpus=1) + SENT + line("end"), "has 1 processors and was to have 2"),
        (
            begin() + line("failure", what="the replay of /replay.bin", why="Invalid argument"),
            "slqb: the guest failed: the replay of /replay.bin: Invalid argument",
        ),
        (
            begin() + line("failure", what="this kernel was built without the replay", why="No"),
            "slqb: the guest failed: this kernel was built without the replay",
        ),
        (b"", "slqb: the kernel did not boot"),
    ],
)
def test_a_guest_that_failed_is_reported(
    raw: bytes, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest(monkeypatch, raw)
    with pytest.raises(GuestError, match=said):
        replayed(BUILT, compact(TRACE.splitlines()), Path())


def test_the_table_has_the_memory_of_the_replay_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    kernel_replay.show_replays([report()], Outputs(json=None))
    said = capsys.readouterr()
    assert said.out.splitlines()[1].split() == [
        "slqb",
        "1,640",
        "1,680",
        "1,680",
        "40",
        "0.001",
        "1",
    ]
    assert "the time is virtual" in said.err
    assert "slqb: 1 requests got no memory, so its figures are not those" in said.err


def test_the_hosts_time_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    several = read_report(REPORT, BUILT, Machine(Path(), Path(), 300, cpus=2), 2)
    kernel_replay.show_replays([several], Outputs(json=None))
    said = capsys.readouterr()
    assert said.out.splitlines()[1].split()[-2:] == ["-", "1"]
    assert "the time is the host's (emulated), so it is not shown" in said.err


def test_a_guest_without_memory_for_the_trace_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    panic = "Kernel panic - not syncing: System is deadlocked on memory"
    guest(monkeypatch, begin(), panic)
    with pytest.raises(GuestError, match="slqb: the trace needs more memory") as caught:
        replayed(BUILT, compact(TRACE.splitlines()), Path(), 60)
    assert panic in caught.value.hint


def test_a_guest_that_hangs_is_named_with_the_end_of_its_console(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def hangs(*_: object) -> NoReturn:
        raise GuestError("the guest was not done after 60 s", "the console's last lines:\nhung")

    monkeypatch.setattr(replay, "ran", hangs)
    with pytest.raises(GuestError, match="slqb: the guest was not done after 60 s") as caught:
        replayed(BUILT, compact(TRACE.splitlines()), Path(), 60)
    assert "hung" in caught.value.hint


def wanted_replay(monkeypatch: pytest.MonkeyPatch, folder: Path, names: str) -> Options:
    """A replay of a trace in kernels that are in the cache, with a document."""
    trace = folder / "some.ktrace"
    trace.write_text(TRACE, encoding="utf-8")
    monkeypatch.setattr(kernel_replay, "find_qemu", lambda: QEMU)
    monkeypatch.setattr(kernel_replay, "find_source", lambda: Source(Path(), "6.1.0-1"))
    monkeypatch.setattr(kernel_replay, "find", lambda *_: BUILT)
    written = str(folder / "some.json")
    return Options(names, trace, None, 60, again=False, json_file=written)


def test_a_kernel_that_fails_leaves_the_figures_of_those_before_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The document has the hash of the trace as it was read."""
    wanted = wanted_replay(monkeypatch, tmp_path, "slqb,slub,slab")
    digest = sha256_of(wanted.trace)
    left = [report()]

    def replays(*_: object) -> KernelReplay:
        wanted.trace.write_text("another trace", encoding="utf-8")
        if not left:
            raise GuestError("slub: the guest was not done after 60 s", "its last line")
        return left.pop()

    monkeypatch.setattr(kernel_replay, "replayed", replays)
    with pytest.raises(GuestError, match="slub: the guest was not done"):
        kernel_replay.replay_trace(wanted)
    document = KernelReplays.from_json((tmp_path / "some.json").read_bytes())
    assert [each.kernel.allocator for each in document.kernels] == ["slqb"]
    assert document.trace_sha256 == digest
    assert "slqb" in capsys.readouterr().out


def test_the_document_has_what_every_kernel_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    guest(monkeypatch, begin() + SENT + line("end"))
    kernel_replay.replay_trace(wanted_replay(monkeypatch, tmp_path, "slqb"))
    document = KernelReplays.from_json((tmp_path / "some.json").read_bytes())
    assert (document.prelude, document.timed, document.processors) == (2, 8, 2)
    (one,) = document.kernels
    assert (one.base, one.marks, one.kept, one.ns) == (1700, (2100, 2120), 1710, 900)


def test_the_trace_is_not_overwritten_by_the_document(tmp_path: Path) -> None:
    trace = tmp_path / "some.ktrace"
    trace.write_text(TRACE, encoding="utf-8")
    wanted = Options("slqb", trace, None, 60, again=False, json_file=str(trace))
    with pytest.raises(HeapwrightError, match="is what is to be read"):
        kernel_replay.replay_trace(wanted)
    assert trace.read_text(encoding="utf-8") == TRACE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read"),
        ("\xff", "this is no kernel trace"),
        (TRACE.replace("k 1 400 0\n", "").replace("k 9 420 1\nend 10", "end 8"), "has no mark"),
    ],
)
def test_a_trace_that_cannot_be_replayed_is_refused_by_its_name(
    text: str | None, said: str, tmp_path: Path
) -> None:
    trace = tmp_path / "some.ktrace"
    if text is not None:
        trace.write_text(text, encoding="utf-8")
    with pytest.raises(HeapwrightError, match=said) as caught:
        kernel_replay.read_trace(trace)
    assert str(trace) in caught.value.message


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    trace = tmp_path / "some.ktrace"
    trace.write_bytes(b"\xff\xfe")
    with pytest.raises(HeapwrightError, match="cannot be read"):
        kernel_replay.read_trace(trace)


@pytest.mark.slow
@pytest.mark.skipif(not ARCHIVE.is_file(), reason="no source (package linux-source-6.1)")
@pytest.mark.skipif(shutil.which("flex") is None, reason="no flex (package flex)")
@pytest.mark.skipif(shutil.which("bison") is None, reason="no bison (package bison)")
@pytest.mark.skipif(shutil.which("patch") is None, reason="no patch (package patch)")
@pytest.mark.skipif(shutil.which(QEMU) is None, reason="no qemu (package qemu-system-x86)")
@pytest.mark.parametrize("allocator", ["slub", "slqb"])
def test_a_drawn_churn_takes_the_same_memory_in_the_kernel_and_in_its_model(
    allocator: str, needs_programs: Callable[..., None], tmp_path: Path
) -> None:
    needs_programs("kernelsim")
    folder = kernel_cache(os.environ) / FOLDER
    wanted = replay_plan(plan(allocator, find_source()))
    built = find(wanted.key, folder) or build(wanted, folder, 2, print)
    trace = marked_trace(tmp_path)
    file = kernel_replay.read_trace(trace)
    one = replayed(built, file, kernel_cache(os.environ))
    assert replayed(built, file, kernel_cache(os.environ)) == one, "virtual time repeats"
    for damaged, why in ((a_free_twice(file), "Invalid argument"), (a_leak(file), "Invalid")):
        with pytest.raises(GuestError, match=why):
            replayed(built, replace(file, data=damaged), kernel_cache(os.environ))
    assert one.refused == 0
    assert one.request_ns > 0
    (run,) = run_trace(trace, ModelRuns((allocator,), 1)).models
    model = [sample.slab_pages for sample in run.samples if sample.recorded is not None]
    assert len(model) == len(one.slab_pages)
    for ours, theirs in zip(model, one.slab_pages, strict=True):
        assert ours == pytest.approx(theirs, rel=0.1, abs=40)


def a_free_twice(file: ReplayFile) -> bytes:
    """The last free of the file a second time, in place of the last mark, with a head that does not
    count the mark."""
    last = file.data[-2 * EVENT.size : -EVENT.size]
    return with_marks(file, -1) + file.data[HEAD.size : -EVENT.size] + last


def a_leak(file: ReplayFile) -> bytes:
    """A mark in place of the last free, with a head that counts it."""
    mark = file.data[-EVENT.size :]
    return with_marks(file, 1) + file.data[HEAD.size : -2 * EVENT.size] + 2 * mark


def with_marks(file: ReplayFile, more: int) -> bytes:
    """The head of the file with another number of marks."""
    *head, marks = HEAD.unpack_from(file.data)
    return HEAD.pack(*head, marks + more)


@pytest.mark.parametrize("damaged", [a_free_twice, a_leak])
def test_a_damaged_file_differs_in_its_frees_alone(
    damaged: Callable[[ReplayFile], bytes], tmp_path: Path
) -> None:
    """A kernel also refuses a wrong number of marks. That is not the reason here."""
    data = damaged(kernel_replay.read_trace(marked_trace(tmp_path)))
    _, caches, _, count, _, _, marks = HEAD.unpack_from(data)
    events = list(EVENT.iter_unpack(data[HEAD.size + caches * CACHE.size :]))
    assert len(events) == count
    assert sum(verb == Verb.MARK for _, _, verb, *_ in events) == marks


def marked_trace(folder: Path) -> Path:
    """Objects of three caches and pages that come and go, with marks."""
    head = ["heapwright-kernel-trace 1", "kernel 6.1 none", "cpus 1", "memory 64"]
    head += ["cache 0 200 64 -- a", "cache 1 640 8 cr b", "cache 2 40 8 -- c", "events"]
    lines = []
    for step in range(1, 9001):
        verb = (
            f"m {step} 0 {step:x} {step % 3000}"
            if step % 4 == 0
            else (f"a {step} 0 {step:x} {step % 3}")
        )
        lines.append(verb)
        if step > 3000 and step % 3 != 0:
            lines.append(f"f {step} 0 {step - 3000:x}")
        if step % 1000 == 0:
            lines.append(f"k {step} 1 0")
    trace = folder / "drawn.ktrace"
    trace.write_text("\n".join([*head, *lines, f"end {len(lines)}", ""]), encoding="ascii")
    return trace


def test_every_allocator_has_a_model_to_compare_with() -> None:
    assert set(MODELS) == set(ALLOCATORS)
