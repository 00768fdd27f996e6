# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright tune` from end to end, on a program whose peak depends on one setting of glibc."""

import errno
import fcntl
import json
import os
from pathlib import Path
from typing import Any

import pytest

from heapwright.artefacts.tuning import folder as search_folder
from heapwright.base import line_file
from heapwright.base.errors import ExitCode
from heapwright.commands import tuning_load, tuning_runs
from heapwright.experiment.measurement import Measurement

from .tools import Done, Heapwright, compile_c

pytestmark = pytest.mark.usefixtures("native")
RETAINING = """
#include <stdlib.h>
#include <string.h>
int main(void) {
    static char *large[100], *small[100], *later[100];
    for (int i = 0; i < 100; ++i) {
        memset(large[i] = malloc(100000), 1, 100000);
        memset(small[i] = malloc(100), 1, 100);
    }
    for (int i = 0; i < 100; ++i) free(large[i]);
    for (int i = 0; i < 100; ++i) memset(later[i] = malloc(130000), 1, 130000);
    return small[0][0] == later[0][0] ? 0 : 1;
}
"""
"""The freed objects stay in the heap below a threshold of 128 KiB, and cannot be used again."""
SETTINGS = ("--setting", "mmap_threshold", "--setting", "tcache_count")
PEAK = ("tune", "--objective", "peak", "--cap", "none", "--seed", "1", *SETTINGS)


@pytest.fixture(scope="module")
def retaining(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_c(tmp_path_factory.mktemp("retaining") / "retaining", RETAINING)


def interrupted_at(monkeypatch: pytest.MonkeyPatch, number: int, error: BaseException) -> None:
    """Make the run of this number raise the error."""
    left = [number]

    class Interrupted(Measurement):
        def execute(self, assignment: Any) -> Any:
            left[0] -= 1
            if not left[0]:
                raise error
            return super().execute(assignment)

    monkeypatch.setattr(tuning_load, "Measurement", Interrupted)


def runs_in(folder: Path) -> int:
    return len((folder / "runs.jsonl").read_text("utf-8").splitlines())


def refused(done: Done, *words: str) -> None:
    assert done.status == ExitCode.BAD_INPUT
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err


def test_the_setting_with_an_effect_is_set(
    heapwright: Heapwright, retaining: Path, tmp_path: Path
) -> None:
    done = heapwright(*PEAK, "--json", "out.json", "-o", "search", "--", retaining)
    assert done.status == 0, done.err
    assert "Set mmap_threshold=65536: " in done.out
    assert "% less memory" in done.out
    assert "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=65536 " in done.out
    assert "no effect of more than 2 % on peak memory: tcache_count" in done.out
    document = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert document["answer"]["settings"] == {"mmap_threshold": "65536"}
    assert document["confirmed"]["objective"]["high"] < 0.8
    assert document["finished"]
    assert runs_in(tmp_path / "search") == document["runs"] + 2
    again = heapwright(*PEAK, "-q", "-o", "search", "--", retaining)
    assert again.status == 0
    assert again.out.startswith("Set mmap_threshold=65536: ")
    assert len(again.out.splitlines()) == 1
    loud = heapwright(*PEAK, "-o", "search", "--", retaining)
    assert "the search is complete; no run was made" in loud.err
    assert "continues the search" not in loud.err
    assert runs_in(tmp_path / "search") == document["runs"] + 2
    other = heapwright(*PEAK[:2], "time", *PEAK[3:], "-o", "search", "--", retaining)
    refused(other, "search has another search: it differs in objective", "new folder with -o")


def test_numbers_outside_of_the_grid_are_raced(
    heapwright: Heapwright, retaining: Path, tmp_path: Path
) -> None:
    words = (*PEAK[:7], "--setting", "mmap_threshold=65536,default", "-o", "search")
    done = heapwright(*words, "--finer", "--", retaining)
    assert done.status == 0, done.err
    runs = (tmp_path / "search" / "runs.jsonl").read_text("utf-8")
    assert "mmap_threshold=16384" in runs
    refused(heapwright(*words, "--", retaining), "search has another search: it differs in finer")


def test_a_trace_is_searched_like_its_program(heapwright: Heapwright, retaining: Path) -> None:
    assert heapwright("record", "-o", "trace.hwt", "--", retaining).status == 0
    done = heapwright(*PEAK, "-o", "search", "trace.hwt")
    assert done.status == 0, done.err
    assert "Set mmap_threshold=65536: " in done.out
    assert f"glibc.malloc.mmap_threshold=65536 {retaining}" in done.out
    assert "next: heapwright replay trace.hwt" in done.err
    confirm = "heapwright tune --objective peak --setting mmap_threshold --setting tcache_count"
    assert f"are those of the replayer: confirm with {confirm} -- {retaining}\n" in done.out


IDLE = """
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static long looks(void) {
    char name[64], text[4096], *found;
    snprintf(name, sizeof name, "/proc/%d/status", getppid());
    const int file = open(name, O_RDONLY);
    const long got = file < 0 ? -1 : read(file, text, sizeof text - 1);
    close(file);
    text[got < 0 ? 0 : got] = 0;
    found = strstr(text, "\\nvoluntary_ctxt_switches:");
    return found ? atol(found + 25) : -1;
}
static void idle(void) {
    for (const long before = looks(); before >= 0 && looks() < before + 20;) usleep(5000);
}
"""
"""Idles until its parent, which looks at it, has waited 20 times, however busy the machine is."""


def test_idle_memory_is_that_of_the_end(heapwright: Heapwright, tmp_path: Path) -> None:
    idling = RETAINING.replace(
        "return small[0]",
        "for (int i = 0; i < 100; ++i) free(later[i]);\n    idle();\n    return small[0]",
    ).replace("== later[0][0]", "== 1")
    head, main, body = idling.partition("int main")
    program = compile_c(tmp_path / "idling", head + IDLE + main + body)
    setting = ("--setting", "mmap_threshold=65536,default")
    done = heapwright("tune", "--objective", "idle", *PEAK[3:7], *setting, "--", program)
    assert done.status == 0, done.err
    assert "least idle memory" in done.out
    assert "Set mmap_threshold=65536: " in done.out


def test_a_run_that_is_too_short_has_no_idle_memory(
    heapwright: Heapwright, retaining: Path
) -> None:
    done = heapwright("tune", "--objective", "idle", "-o", "search", "--", retaining)
    assert done.status == ExitCode.NOTHING_COMPARED
    assert "no figure for the objective idle" in done.err


def test_an_interrupted_search_continues(
    heapwright: Heapwright, retaining: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (*PEAK, "-o", "search", "--", retaining)
    with monkeypatch.context() as patched:
        interrupted_at(patched, 20, KeyboardInterrupt())
        done = heapwright(*words)
    assert done.status == ExitCode.INTERRUPTED
    assert "The search is not finished (it was interrupted): " in done.out
    assert "the same command with -o search continues" in done.out
    assert runs_in(tmp_path / "search") == 19
    with (tmp_path / "search" / "runs.jsonl").open("a") as file:
        file.write('{"allocator": "gl')
    done = heapwright(*words)
    assert done.status == 0, done.err
    assert "continues the search in search" in done.err
    assert "Set mmap_threshold=65536: " in done.out


def test_an_interruption_in_the_warm_up_leaves_no_answer(
    heapwright: Heapwright, retaining: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted_at(monkeypatch, 2, KeyboardInterrupt())
    done = heapwright(*PEAK, "-o", "search", "--", retaining)
    assert done.status == ExitCode.INTERRUPTED
    assert "there is no answer: it was interrupted" in done.err


def test_a_full_disk_ends_the_search_and_loses_one_run(
    heapwright: Heapwright, retaining: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [12]
    append = line_file.append_line

    def append_line(descriptor: int, text: str) -> None:
        left[0] -= 1
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        append(descriptor, text)

    with monkeypatch.context() as patched:
        patched.setattr(search_folder, "append_line", append_line)
        done = heapwright(*PEAK, "-o", "search", "--", retaining)
    assert done.status == ExitCode.NOT_WRITTEN
    assert "cannot be written: No space left on device" in done.err
    assert "continues the search" in done.err
    assert runs_in(tmp_path / "search") == 11
    assert heapwright(*PEAK, "-o", "search", "--", retaining).status == 0


def test_two_searches_in_one_folder_are_refused(
    heapwright: Heapwright, retaining: Path, tmp_path: Path
) -> None:
    (tmp_path / "search").mkdir()
    with (tmp_path / "search" / "runs.jsonl").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = heapwright(*PEAK, "-o", "search", "--", retaining)
    refused(done, "another heapwright searches in search", "another folder with -o")


def test_a_folder_with_other_files_is_refused(
    heapwright: Heapwright, retaining: Path, tmp_path: Path
) -> None:
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "notes.txt").write_text("mine")
    refused(heapwright(*PEAK, "-o", "search", "--", retaining), "search holds other files")
    (tmp_path / "file").write_text("mine")
    refused(heapwright(*PEAK, "-o", "file", "--", retaining), "file is no folder")


def test_a_damaged_plan_is_refused(heapwright: Heapwright, retaining: Path, tmp_path: Path) -> None:
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "search.json").write_text('{"format": "heapwright search"')
    done = heapwright(*PEAK, "-o", "search", "--", retaining)
    refused(done, "search.json is not the question of a search")


def test_a_budget_that_is_too_small_is_refused_and_leaves_no_folder(
    heapwright: Heapwright, retaining: Path, tmp_path: Path
) -> None:
    done = heapwright(*PEAK, "--budget", "0.001", "-o", "search", "--", retaining)
    refused(done, "the budget of 0.001 min is too small", "2 settings", "--budget 0.")
    assert not (tmp_path / "search").exists()
    (tmp_path / "mine").mkdir()
    refused(heapwright(*PEAK, "--budget", "0.001", "-o", "mine", "--", retaining), "too small")
    assert not list((tmp_path / "mine").iterdir())


def test_a_refusal_keeps_the_runs_of_an_interrupted_search(
    heapwright: Heapwright, retaining: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        interrupted_at(patched, 2, KeyboardInterrupt())
        heapwright(*PEAK, "-o", "search", "--", retaining)
    refused(heapwright(*PEAK, "--budget", "0.001", "-o", "search", "--", retaining), "too small")
    assert runs_in(tmp_path / "search") == 2


@pytest.mark.parametrize("name", ["runs.jsonl", "search.json"])
@pytest.mark.parametrize("kind", ["device", "pipe", "huge"])
def test_a_file_that_is_no_regular_one_is_refused_before_it_is_read(
    heapwright: Heapwright, retaining: Path, tmp_path: Path, name: str, kind: str
) -> None:
    folder = tmp_path / "search"
    folder.mkdir()
    if kind == "device":
        (folder / name).symlink_to("/dev/full")
    elif kind == "pipe":
        os.mkfifo(folder / name)
    else:
        with (folder / name).open("wb") as file:
            file.truncate(1 << 40)
    done = heapwright(*PEAK, "-o", "search", "--", retaining)
    refused(done, name, "too large for a search" if kind == "huge" else "is no regular file")
    assert (folder / name).is_symlink() == (kind == "device")


def test_a_symbolic_link_in_place_of_the_runs_is_not_followed(
    heapwright: Heapwright, retaining: Path, tmp_path: Path
) -> None:
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "runs.jsonl").symlink_to(tmp_path / "elsewhere")
    done = heapwright(*PEAK, "-o", "search", "--", retaining)
    refused(done, "runs.jsonl is no regular file")
    assert not (tmp_path / "elsewhere").exists()


def test_a_program_that_fails_is_refused(heapwright: Heapwright, tmp_path: Path) -> None:
    done = heapwright(*PEAK, "-o", "search", "--", "false")
    assert done.status == ExitCode.NOTHING_COMPARED
    assert "with the default settings the run is failed" in done.err
    assert not (tmp_path / "search").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--setting", "tcache_cout"), "did you mean tcache_count"),
        (("--setting", "tcache_count=default,many"), "cannot be 'many'"),
        (("--setting", "tcache_count=0,1"), "needs the level default"),
        (("--setting", "tcache_count=0,1"), "write --setting tcache_count=0,default,127"),
        (("-a", "lea"), "no settings of lea"),
        (("-a", "glibk"), "did you mean glibc"),
        (("--objective", "speed"), "it is time or peak or idle"),
        (("--objective", "latency_p99_ms"), "figures of a program need --program NAME"),
        (("--cap", "512M"), "--cap: '512M' is no fraction"),
        (("--margin", "200%"), "--margin: '200%' is not between"),
        (("--program", "perl"), "there cannot be a command beside it"),
    ],
)
def test_bad_requests_are_refused_before_the_first_run(
    heapwright: Heapwright, retaining: Path, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    refused(heapwright("tune", *words, "-o", "search", "--", retaining), told)
    assert not (tmp_path / "search").exists()


def test_a_search_without_a_command_is_refused(heapwright: Heapwright) -> None:
    refused(heapwright("tune"), "there is nothing to tune")


def test_a_command_stands_after_dashes(
    heapwright: Heapwright, retaining: Path, tmp_path: Path
) -> None:
    refused(heapwright("tune", retaining), "heapwright tune -- ")
    refused(heapwright("tune", "ls", "-R", "/usr"), "heapwright tune -- ls -R /usr")
    (tmp_path / "notes.txt").write_text("mine")
    refused(heapwright("tune", "notes.txt"), "notes.txt is no trace")
    refused(heapwright("tune", "notes.txt", "--", retaining), "stands beside a command")


def test_runs_that_are_too_short_for_a_time_are_warned_of(
    heapwright: Heapwright, retaining: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning_runs, "SHORT_S", 60.0)
    words = ("tune", "--setting", "tcache_count=0,default", "--seed", "1", "--json", "out.json")
    done = heapwright(*words, "--", retaining)
    assert done.status == 0, done.err
    note = "a difference may be that of its start"
    assert note in done.err
    document = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert note in document["answer"]["notes"][0]
    peak = heapwright("tune", "--objective", "peak", *words[1:], "--", retaining)
    assert note not in peak.out + peak.err
