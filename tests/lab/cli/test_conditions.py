# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How `heapwright compare` runs a command: its words, folder, input, settings, processors."""

import json
import os
import sys
from pathlib import Path

import pytest

from heapwright.base.errors import ExitCode

from .tools import Heapwright, forwarding, library, read

pytestmark = pytest.mark.usefixtures("native")


def test_settings_are_levels(heapwright: Heapwright, worker: Path, tmp_path: Path) -> None:
    done = heapwright(
        "compare", "-n", "1", "-a", "glibc", "--set", "glibc:MALLOC_ARENA_MAX=1",
        "--set", "glibc:GLIBC_TUNABLES=glibc.malloc.tcache_count=0", "--json", "out.json",
        "--", worker,
    )  # fmt: skip
    assert done.status == 0, done.err
    assert {t.label for t in read(tmp_path / "out.json").treatments} == {
        "glibc",
        "glibc [MALLOC_ARENA_MAX=1]",
        "glibc [GLIBC_TUNABLES=glibc.malloc.tcache_count=0]",
    }


def test_a_setting_reaches_the_command(heapwright: Heapwright, tmp_path: Path) -> None:
    heapwright(
        "compare", "-n", "1", "--shell", "-a", "glibc", "--set", "glibc:MALLOC_MARK=a,b:c d",
        "--", "echo \"$MALLOC_MARK\" >> seen",
    )  # fmt: skip
    assert sorted((tmp_path / "seen").read_text().splitlines()) == ["", "", "a,b:c d", "a,b:c d"]


def test_an_exit_status_that_is_expected_is_good(heapwright: Heapwright, tmp_path: Path) -> None:
    done = heapwright(
        "compare", "-n", "1", "-a", "glibc,lea", "--expect-exit", "3", "--json", "out.json",
        "--", "/bin/sh", "-c", "exit 3",
    )  # fmt: skip
    assert done.status == 0, done.err
    assert {run.exit_status for run in read(tmp_path / "out.json").runs} == {3}


def test_words_reach_the_command_unchanged(heapwright: Heapwright, tmp_path: Path) -> None:
    words = ["a b", "", "'\"$HOME*", "--json", "-n", "é\n"]
    script = "import json, sys; json.dump(sys.argv[1:], open('seen', 'w'))"
    heapwright("compare", "-n", "1", "-a", "lea", "--", sys.executable, "-c", script, *words)
    assert json.loads((tmp_path / "seen").read_text()) == words


def test_a_shell_is_there_only_when_asked_for(heapwright: Heapwright, tmp_path: Path) -> None:
    heapwright("compare", "-n", "1", "-a", "lea", "--", "/bin/echo", "x", ">", "no")
    assert not (tmp_path / "no").exists()
    heapwright("compare", "-n", "1", "-a", "lea", "--shell", "--", "/bin/echo", "x", ">", "yes")
    assert (tmp_path / "yes").read_text() == "x\n"


def test_the_input_of_the_command(heapwright: Heapwright, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("from the file")
    heapwright(
        "compare", "-n", "1", "-a", "lea", "--shell", "--", "cat >> nothing; echo . >> nothing"
    )
    assert set((tmp_path / "nothing").read_text()) == {".", "\n"}
    heapwright(
        "compare", "-n", "1", "-a", "lea", "--stdin", "in", "--shell", "--", "cat > something"
    )
    assert (tmp_path / "something").read_text() == "from the file"


def test_the_folder_of_the_command(heapwright: Heapwright, worker: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "prog").symlink_to(worker)
    done = heapwright(
        "compare", "-n", "1", "-a", "lea", "--cwd", "folder", "--prepare", "pwd > where",
        "--json", "out.json", "--", "./prog",
    )  # fmt: skip
    assert done.status == 0, done.err
    assert Path((folder / "where").read_text().strip()).samefile(folder)
    assert (tmp_path / "out.json").exists()


def test_the_preparation_runs_before_each_run(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    heapwright("compare", "-n", "2", "-a", "lea", "--prepare", "echo x >> count", "--", worker)
    assert (tmp_path / "count").read_text().count("x") == 3 * 2


def test_a_preparation_that_fails_wastes_nothing(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    done = heapwright("compare", "-a", "lea", "--prepare", "echo no luck >&2; exit 7", "--", worker)
    assert done.status == ExitCode.BAD_INPUT
    assert "--prepare ended with status 7: no luck" in done.err
    assert list((tmp_path / "state" / "heapwright").iterdir()) == []
    # in the middle: what was measured is analysed and kept
    done = heapwright(
        "compare", "-n", "5", "-a", "lea", "--prepare",
        "echo x >> count; [ $(wc -l < count) -lt 8 ]", "--json", "out.json", "--", worker,
    )  # fmt: skip
    assert done.status == ExitCode.BAD_INPUT
    comparison = read(tmp_path / "out.json")
    assert len(comparison.runs) == 7
    assert comparison.effects


def test_processors_are_pinned(heapwright: Heapwright, tmp_path: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    script = "import os; open('seen', 'a').write(f'{os.sched_getaffinity(0)}\\n')"
    heapwright(
        "compare", "-n", "1", "-a", "lea", "--pin", str(cpu), "--json", "out.json",
        "--", sys.executable, "-c", script,
    )  # fmt: skip
    assert set((tmp_path / "seen").read_text().splitlines()) == {f"{{{cpu}}}"}
    assert read(tmp_path / "out.json").design.pinned_cpus == (cpu,)


def test_a_preload_of_the_users_own_stays_and_is_mentioned(
    heapwright: Heapwright, worker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = library(tmp_path / "own.so", "int nothing;\n")
    monkeypatch.setenv("LD_PRELOAD", str(own))
    done = heapwright(
        "compare", "-n", "1", "-a", "lea", "--shell", "--", f"{worker}; echo $LD_PRELOAD > seen"
    )
    assert done.status == 0, done.err
    assert (tmp_path / "seen").read_text().strip().endswith(f":{own}")
    assert f"your own LD_PRELOAD stays in force, after each allocator: {own}" in done.out


def test_a_malloc_of_the_users_own_preload_is_not_taken_for_glibc(
    heapwright: Heapwright, worker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_PRELOAD", str(forwarding(tmp_path / "own.so", limit=10**9)))
    done = heapwright("compare", "-n", "1", "-a", "lea", "--json", "out.json", "--", worker)
    assert done.status == ExitCode.NOTHING_COMPARED
    assert "the command ended as not-interposed" in done.err
    assert "--baseline" in done.err
