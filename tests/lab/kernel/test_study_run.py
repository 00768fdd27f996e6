# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A study of kernels tries failed boots again and continues where it stopped, without a kernel."""

from collections import Counter
from pathlib import Path

import pytest

from heapwright.artefacts.kernel_study.boot import Kernel, KernelBoot
from heapwright.artefacts.kernel_study.document import Cell, latest_runs, read_design, read_runs
from heapwright.base.errors import HeapwrightError
from heapwright.commands import kernel_boot, kernel_study
from heapwright.commands.kernel_study import TRIES, Wanted, run_kernel_study
from heapwright.kernel.boot import Asked
from heapwright.kernel.folders import ALLOCATORS
from heapwright.kernel.image_cache import Built
from heapwright.kernel.records import GuestError
from support.documents import made

WANTED = Wanted("small", "churn", ",".join(ALLOCATORS), 2, "1", "128,192", 1)


def built(name: str) -> Built:
    return Built(f"{name}-1", name, "6.1", "", Path("kernels") / name)


class Boots:
    """Stands for the emulator: boots of one kernel fail as often as a test requires."""

    def __init__(self, fails: int = 0) -> None:
        self.asked: list[tuple[str, int, int]] = []
        self.fails = fails
        self.stops_after = 1000

    def __call__(self, kernel: Built, asked: Asked, _cache: Path) -> KernelBoot:
        if len(self.asked) == self.stops_after:
            raise KeyboardInterrupt
        load = asked.load
        self.asked.append((kernel.allocator, asked.seed, load.memory_mib))
        if kernel.allocator == "slob" and self.fails > 0:
            self.fails -= 1
            raise GuestError(
                "the guest was not done after 900 s", "the console's last lines:\nhung"
            )
        return made(
            KernelBoot,
            kernel=made(Kernel, key=kernel.key, allocator=kernel.allocator),
            load=load.name,
            scale=load.scale,
            seed=asked.seed,
            cpus=asked.cpus,
            memory_mib=load.memory_mib,
            responses={"time_s": 1.0 + len(kernel.allocator)},
        )


@pytest.fixture
def boots(monkeypatch: pytest.MonkeyPatch) -> Boots:
    made = Boots()
    monkeypatch.setattr(kernel_boot, "boot", made)
    monkeypatch.setattr(kernel_study, "find_qemu", lambda: "qemu")
    monkeypatch.setattr(kernel_study, "cached_kernel", lambda name, _cache: built(name))
    monkeypatch.setattr(
        kernel_study, "made_kernels", lambda names, _cache, _jobs: [built(name) for name in names]
    )
    return made


def test_every_kernel_is_booted_with_every_memory_and_seed(boots: Boots, tmp_path: Path) -> None:
    assert run_kernel_study(WANTED, tmp_path / "r", resume=False)
    expected = {(name, seed, mib) for name in ALLOCATORS for seed in (1, 2) for mib in (128, 192)}
    assert Counter(boots.asked) == Counter(expected)
    page = (tmp_path / "r" / "index.html").read_text("utf-8")
    assert "churn, 128 MiB" in page
    assert "churn, 192 MiB" in page


def test_a_boot_that_fails_once_is_made_again(boots: Boots, tmp_path: Path) -> None:
    boots.fails = 1
    assert run_kernel_study(WANTED, tmp_path / "r", resume=False)
    runs = read_runs(tmp_path / "r")
    assert sorted(run.tries for run in runs) == [1] * 15 + [2]
    assert all(run.boot and run.boot.tries == run.tries for run in runs)


def test_a_boot_that_fails_each_time_is_told_and_made_again_by_resume(
    boots: Boots, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "r"
    boots.fails = TRIES
    assert not run_kernel_study(WANTED, folder, resume=False)
    said = capsys.readouterr().err
    assert f"try {TRIES} of {TRIES}: the guest was not done after 900 s" in said
    assert "hung" in (folder / "index.html").read_text("utf-8")
    first = len(boots.asked)
    assert run_kernel_study(WANTED, folder, resume=True)
    assert len(boots.asked) == first + 1
    assert "hung" not in (folder / "index.html").read_text("utf-8")
    assert all(run.boot is not None for run in latest_runs(folder).values())


def test_a_study_that_was_stopped_makes_only_the_missing_boots(
    boots: Boots, tmp_path: Path
) -> None:
    folder = tmp_path / "r"
    boots.stops_after = 5
    with pytest.raises(KeyboardInterrupt):
        run_kernel_study(WANTED, folder, resume=False)
    boots.stops_after = 1000
    assert run_kernel_study(WANTED, folder, resume=True)
    assert set(latest_runs(folder)) == set(read_design(folder).cells)
    assert max(Counter(boots.asked).values()) == 1


def test_a_journal_without_memory_and_tries_is_read() -> None:
    cell = Cell.model_validate({"block": 1, "load": "churn", "cpus": 1, "allocator": "slub"})
    assert cell.memory_mib == 0


@pytest.mark.parametrize("text", ["", "128,x", "8", "128,99999999"])
def test_memory_that_no_machine_can_have_is_refused(text: str, tmp_path: Path) -> None:
    wanted = Wanted("small", "churn", "slub", 1, "1", text, 1)
    with pytest.raises(HeapwrightError, match=r"--memory .*: MiB from 64 to 65536"):
        kernel_study.factors_of(wanted)
    assert not list(tmp_path.iterdir())
