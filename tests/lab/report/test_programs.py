# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Programs as text. Nothing of a run's figures is left out, and a bad end is reported."""

from io import StringIO
from pathlib import Path

from heapwright.artefacts.program.library import open_program
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.report.console import make_console
from heapwright.report.programs import print_program, print_programs, print_run

ROOT = Path(__file__).parents[3]
RUN = Run(
    allocator="glibc",
    block=1,
    position=1,
    outcome=Outcome.OK,
    wall_s=2.5,
    user_s=1.0,
    sys_s=0.5,
    client_cpu_s=0.75,
    peak_rss_bytes=64 << 20,
    rss_series=[(0.1, 32 << 20), (0.2, 16 << 20), (0.3, 0)],
)


def test_the_figures_of_a_run() -> None:
    program = open_program(str(ROOT / "catalogue" / "programs" / "redis.toml")).program
    stream = StringIO()
    responses = {"gets": 123456.0}
    print_run(make_console(stream, width=200), program, RUN, responses, ["a note"])
    text = " ".join(stream.getvalue().split())
    assert "redis under glibc: ok" in text
    assert "time of the client 2.5 s" in text
    assert "the server's processor time 1.5 s" in text
    assert "the client's processor time 0.75 s" in text
    assert "the server's peak memory 64 MiB" in text
    assert "the server's memory at the end 16 MiB" in text
    assert "gets a second 123,456 1/s" in text
    assert "- a note" in text


def test_a_failed_run_is_reported() -> None:
    program = open_program(str(ROOT / "catalogue" / "programs" / "perl.toml")).program
    bad = RUN.model_copy(
        update={"outcome": Outcome.CRASHED, "detail": "killed by SIGSEGV\nits log"}
    )
    stream = StringIO()
    print_run(make_console(stream, width=200), program, bad, {}, [])
    assert stream.getvalue().startswith(
        "perl under glibc: crashed\n  killed by SIGSEGV\n  its log\n"
    )


def test_a_program_is_shown_with_what_must_be_so() -> None:
    file = open_program(str(ROOT / "catalogue" / "programs" / "mariadb-read-only.toml"))
    stream = StringIO()
    console = make_console(stream, width=200)
    print_programs(console, [(file.program, "there is no program mariadbd")])
    print_program(
        console, file.program, "F", ["mariadbd", "{run}"], ["there is no program mariadbd"]
    )
    text = " ".join(stream.getvalue().split())
    for words in (
        "server mariadbd {run}",
        "missing: there is no program mariadbd",
        "rows 1000000 10000",
        "transactions 1/s higher transaction_s",
        "must be so: every transaction was answered",
    ):
        assert words in text
