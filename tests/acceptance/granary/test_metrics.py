# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""granary's figures as metrics equal those of its JSON, and Prometheus reads them."""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from heapwright.artefacts.allocator.granary_statistics import GranaryStatistics

from .conftest import Ask

SAMPLE = re.compile(r'(heapwright_\w+)\{((?:\w+="[^"]*",?)+)\} (\d+)')
OWN = ("size", "lock")
"""The labels that are of one metric only."""

Samples = dict[tuple[str, str], int]


def samples_of(text: str) -> Samples:
    """Each value by the name of its metric and its own label; the labels of all must agree."""
    found: Samples = {}
    lines = text.splitlines()
    assert lines[-1] == "# EOF"
    common = set()
    for line in lines[:-1]:
        if line.startswith("# "):
            assert line.startswith(("# HELP heapwright_", "# TYPE heapwright_")), line
            continue
        match = SAMPLE.fullmatch(line)
        assert match is not None, line
        labels = dict(re.findall(r'(\w+)="([^"]*)"', match[2]))
        own = [labels.pop(name) for name in OWN if name in labels]
        common.add(tuple(labels.items()))
        key = (match[1].removeprefix("heapwright_"), "".join(own))
        assert key not in found, line
        found[key] = int(match[3])
    assert len(common) == 1
    assert [name for name, _ in common.pop()] == ["allocator", "program", "process"]
    return found


def test_metrics_equal_the_figures_of_the_json(ask: Ask, allocator: str) -> None:
    answer = ask("print-metrics")
    line, _, text = answer.out.partition("\n")
    figures = GranaryStatistics.from_json(line)
    found = samples_of(text)
    assert f'{{allocator="{allocator}",program="asked",process="{figures.process}"' in text
    waits, takes = (
        {label: found.pop((f"lock_{what}_total", label)) for label in ("heaps", "shared", "chunks")}
        for what in ("waits", "takes")
    )
    locks = {"heaps": figures.locks.heaps, "shared": figures.locks.shared}
    for name, lock in locks.items():
        assert takes[name] >= lock.takes > 0, "the second look takes the locks again"
        assert waits[name] == lock.waits
    assert found == {
        ("live_objects", ""): figures.live.objects,
        ("live_bytes", ""): figures.live.bytes,
        ("large_objects", ""): figures.large.objects,
        ("large_bytes", ""): figures.large.bytes,
        ("cached_objects", ""): figures.cached.objects,
        ("cached_bytes", ""): figures.cached.bytes,
        ("free_bytes", ""): figures.free.bytes,
        ("caches", ""): figures.caches.threads,
        ("dirty_bytes", ""): figures.chunks.dirty_bytes,
        ("clean_bytes", ""): figures.chunks.clean_bytes,
        ("mapped_bytes", ""): figures.system.mapped_bytes,
        ("maps_total", ""): figures.system.maps,
        ("unmaps_total", ""): figures.system.unmaps,
        ("purges_total", ""): figures.system.purges,
        ("purged_bytes_total", ""): figures.system.purged_bytes_ever,
        ("moves_total", ""): figures.system.moves,
        **{("class_live_objects", str(each.size)): each.live for each in figures.classes},
        **{("class_held_bytes", str(each.size)): each.held_bytes for each in figures.classes},
    }
    assert figures.cached.objects > 0, "the program has freed objects"


def test_a_file_of_metrics_is_replaced_at_each_signal(
    asked: Path, under: Callable[[str], Mapping[str, str]], tmp_path: Path
) -> None:
    """As the collector of a folder's files reads it: one whole document, and nothing beside it."""
    settings = f"statistics=signal:USR2,format=openmetrics,to={tmp_path}/app-%p.prom"
    with subprocess.Popen([asked, "wait"], env=under(settings), stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"ready\n"
        file = tmp_path / f"app-{program.pid}.prom"
        takes = [0]
        for _ in range(3):
            os.kill(program.pid, signal.SIGUSR2)
            takes.append(takes_after(file, takes[-1]))
        program.kill()
    assert list(tmp_path.iterdir()) == [file]


def takes_after(file: Path, before: int) -> int:
    """Waits for a document of a later look, which has taken the locks once more."""
    for _ in range(2000):
        if file.exists():
            now = samples_of(file.read_text(encoding="utf-8"))["lock_takes_total", "heaps"]
            if now > before:
                return now
        time.sleep(0.01)
    raise AssertionError(f"{file} was not replaced")


def test_an_unwritable_folder_does_not_harm_the_program(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    for place in ("/no/such/folder/file.prom", tmp_path / "taken"):
        assert ask("nothing", f"statistics=exit,format=openmetrics,to={place}").status == 0
    assert [file.name for file in tmp_path.iterdir()] == ["taken"]


@pytest.mark.programs
def test_promtool_finds_no_fault_in_the_metrics(ask: Ask, tmp_path: Path) -> None:
    promtool = shutil.which("promtool") or pytest.skip("needs promtool (package prometheus)")
    ask("walk", "statistics=exit,format=openmetrics,to=metrics.prom", tmp_path)
    text = (tmp_path / "metrics.prom").read_bytes()
    check = [promtool, "check", "metrics"]
    done = subprocess.run(check, input=text, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    broken = text.replace(b"} ", b" ", 1)
    assert subprocess.run(check, input=broken, capture_output=True, check=False).returncode != 0
