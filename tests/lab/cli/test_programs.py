# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright programs`, and `--program` where a command is taken."""

import csv
import json
import socket
from pathlib import Path

import pytest

from heapwright.base.errors import ExitCode
from heapwright.experiment.program import needs

from .tools import Heapwright, read

pytestmark = pytest.mark.usefixtures("native")
SMALL = ("--scale", "small")
UNFIT = """format = 1
name = "unfit"
title = "Needs what is nowhere"
command = ["no-such-program"]
needs = ["no-such-program"]
packages = ["no-such-package"]
"""


def test_the_list_has_all_but_the_reference(heapwright: Heapwright) -> None:
    listed = heapwright("programs", "list").out
    for name in ("mariadb-read-only", "redis", "gawk"):
        assert f"\n{name} " in listed
    assert "\nreference " not in listed
    found = {
        each["name"]: each for each in json.loads(heapwright("programs", "list", "--json").out)
    }
    assert found["redis"]["server"]
    assert not found["perl"]["server"]
    assert found["lynx"]["scales"] == ["small", "published"]
    assert not found["lynx"]["server"], "the allocator is the browser's"


def test_show_prints_the_parameters_of_a_program(heapwright: Heapwright) -> None:
    shown = heapwright("programs", "show", "mariadb-read-only", "-p", "rows=77").out
    assert "rows" in shown
    assert "77" in shown
    assert "must be so: every transaction was answered" in shown
    assert heapwright("programs", "show", "mariadb").status == ExitCode.BAD_INPUT


def test_a_program_is_run_and_its_data_is_made_once(heapwright: Heapwright, tmp_path: Path) -> None:
    first = heapwright("programs", "run", "reference", *SMALL, "-p", "times=3")
    assert first.status == ExitCode.OK, first.err
    assert "making the data of reference, once" in first.err
    assert "reference under glibc: ok" in first.out
    assert "answers a second" in first.out
    assert "it is an example and no real program" in first.out
    second = heapwright("programs", "run", "reference", *SMALL, "-a", "hoard", "--json")
    assert second.err == ""
    document = json.loads(second.out)
    assert document["program"]["parameters"]["times"] == 5
    assert document["run"]["allocator"] == "hoard"
    assert document["run"]["interposed"]
    assert document["run"]["client_cpu_s"] > 0
    assert document["responses"]["answers"] == pytest.approx(
        1 / document["run"]["measures"]["answer_s"]
    )
    checked = heapwright("programs", "check", "reference").out
    (data,) = [line.split()[1] for line in checked.splitlines() if line.startswith("  data: ")]
    assert data.startswith(str(tmp_path / "home" / "data"))
    assert f"removed {data}" in heapwright("programs", "clean", "reference").out
    assert not Path(data).exists()


def test_a_port_that_is_in_use(heapwright: Heapwright) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = heapwright("programs", "run", "reference", *SMALL, "-p", f"port={port}")
    assert done.status == ExitCode.BAD_INPUT
    assert f"port {port} answers before the server is started" in done.err


def test_wrong_answers_are_a_failed_run(heapwright: Heapwright, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    text = UNFIT.replace("no-such-program", "true")
    path.write_text(text + '[[check]]\nwhat = "it speaks"\npattern = "x"\n')
    done = heapwright("programs", "run", path)
    assert done.status == ExitCode.NOTHING_COMPARED
    assert "unfit under glibc: failed\n  not so: it speaks: nothing fits 'x'" in done.out


def test_a_missing_part_is_reported_with_how_to_get_it(
    heapwright: Heapwright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "unfit.toml"
    path.write_text(UNFIT)
    checked = heapwright("programs", "check", path)
    assert checked.status == ExitCode.NOTHING_COMPARED
    assert checked.out == (
        "unfit: there is no program no-such-program\n  packages: no-such-package\n"
    )
    for verb in (("programs", "run", path), ("compare", "--program", path)):
        refused = heapwright(*verb)
        assert refused.status == ExitCode.BAD_INPUT
        assert "unfit cannot be run here: there is no program no-such-program" in refused.err
    monkeypatch.setattr(needs, "_is_installed", lambda _package: False)
    monkeypatch.setattr("heapwright.commands.programs.has_packages", lambda: True)
    monkeypatch.setattr("heapwright.commands.programs.as_root", lambda: None)
    refused = heapwright("programs", "install", path)
    assert refused.status == ExitCode.NOTHING_COMPARED
    assert "only root can install packages" in refused.err
    assert "sudo apt-get install -y --no-install-recommends no-such-package" in refused.err
    assert heapwright("programs", "install").status == ExitCode.BAD_INPUT


def test_a_program_that_no_preload_reaches_is_refused(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    program = tmp_path / "mine"
    program.write_bytes(Path("/bin/true").read_bytes())
    program.chmod(0o4755)
    path = tmp_path / "unfit.toml"
    path.write_text(UNFIT.replace('"no-such-program"', f'"{program}"'))
    done = heapwright("programs", "run", path)
    assert done.status == ExitCode.BAD_INPUT
    assert "set-user-ID" in done.err


def test_allocators_are_compared_in_a_server(heapwright: Heapwright, tmp_path: Path) -> None:
    words = ("--program", "reference", *SMALL, "-a", "glibc,hoard", "-n", "2", "--warmup", "0")
    done = heapwright("compare", *words, "--json", tmp_path / "F", "--csv", tmp_path / "C")
    assert done.status == ExitCode.OK, done.err
    assert "Program: reference, scale small: lines 100, times 5" in done.out
    assert "Time is that of its client" in done.out
    assert "answers a second, 1/s" in done.out
    assert "the client used" in done.out
    comparison = read(tmp_path / "F")
    assert comparison.program is not None
    assert comparison.program.client[2:4] == ("ask", "{port}")
    assert comparison.command[-2:] == ("serve", "{port}")
    assert {run.allocator for run in comparison.runs if run.interposed} == {"glibc", "hoard"}
    assert {effect.response for effect in comparison.effects} >= {"time", "memory", "answer_s"}
    with (tmp_path / "C").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 4
    assert all(float(row["client_cpu_s"]) > 0 for row in rows)
