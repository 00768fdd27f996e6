# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright profile --sample SIZE` on the command line."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from heapwright.artefacts.stacks.profile import Amount
from heapwright.artefacts.stacks.read import read_stacks
from heapwright.base.errors import ExitCode

from .tools import Heapwright, compile_c

PROGRAM = """
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *kept[2000];
__attribute__((noinline)) void keep(void) {
    for (int i = 0; i < 2000; ++i) kept[i] = malloc(5000);
}
__attribute__((noinline)) void churn(void) {
    for (int i = 0; i < 4000; ++i) { char *b = malloc(700); memset(b, 1, 700); free(b); }
}
int main(int argc, char **argv) {
    keep();
    churn();
    if (argc > 1) raise(atoi(argv[1]));
    return 0;
}
"""
KEPT, CHURNED = 2000 * 5000, 4000 * 700


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return compile_c(tmp_path / "program", PROGRAM)


def test_a_command_is_sampled_and_each_site_has_an_interval(
    heapwright: Heapwright, program: Path, tmp_path: Path
) -> None:
    done = heapwright(
        *("profile", "--sample", "16K", "-o", "kept", "--html", "page.html", "--", str(program))
    )
    assert done.status == 0, done.err
    found = read_stacks(tmp_path / "kept")
    assert found.total(Amount.KEPT_BYTES) == pytest.approx(KEPT, rel=0.25)
    assert found.total(Amount.BYTES) == pytest.approx(KEPT + CHURNED, rel=0.25)
    sites = re.findall(
        r"MiB \[[\d.]+ \S+ to [\d.]+ \S+\] \([\d.]+ %\) in .*: (keep|churn)", done.out
    )
    assert sorted(sites) == ["churn", "keep", "keep", "keep"]
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "95 % interval" in page
    assert heapwright("profile", "-q", "kept").out.count(" to ") == 3


def test_a_signal_that_ends_the_command_leaves_its_samples(
    heapwright: Heapwright, program: Path
) -> None:
    done = heapwright("profile", "--sample", "16K", "-q", "--", str(program), "15")
    assert done.status == 0, done.err
    assert "never freed" in done.out
    assert "the command was ended by SIGTERM" in done.err


def test_a_killed_command_has_no_samples(heapwright: Heapwright, program: Path) -> None:
    done = heapwright("profile", "--sample", "16K", "--", str(program), "9")
    assert done.status == ExitCode.NOTHING_COMPARED
    assert "before it wrote its samples" in done.err
    assert "HEAPWRIGHT_SAMPLE_EVERY" in done.err


def test_a_static_program_is_refused(heapwright: Heapwright, tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs cc (Debian's package gcc)")
    (tmp_path / "fixed.c").write_text(PROGRAM)
    subprocess.run([compiler, "-static", "-o", "fixed", "fixed.c"], cwd=tmp_path, check=True)
    done = heapwright("profile", "--sample", "16K", "--", "./fixed")
    assert done.status == ExitCode.BAD_INPUT
    assert "static" in done.err


def test_the_process_that_requests_most_is_shown(heapwright: Heapwright, program: Path) -> None:
    done = heapwright("profile", "--sample", "16K", "--", "sh", "-c", f"{program}; true")
    assert done.status == 0, done.err
    assert "keep" in done.out
    assert "1 other process requested less and is not shown" in done.err


@pytest.mark.parametrize(
    "option",
    [("-n", "3"), ("--json", "x"), ("--hours", "1")],
)
def test_what_samples_cannot_answer_is_refused(
    option: tuple[str, ...], heapwright: Heapwright
) -> None:
    done = heapwright("profile", "--sample", "16K", *option, "--", "true")
    assert done.status == ExitCode.BAD_INPUT
    assert "--sample SIZE" in done.err


def test_one_file_for_the_samples_and_the_page_is_refused(heapwright: Heapwright) -> None:
    done = heapwright("profile", "--sample", "16K", "-o", "x", "--html", "x", "--", "true")
    assert done.status == ExitCode.BAD_INPUT
    assert "--html and -o cannot write to the same place" in done.err


@pytest.mark.parametrize("text", ["0", "1P", "99999999999"])
def test_a_distance_that_is_none_is_refused(text: str, heapwright: Heapwright) -> None:
    done = heapwright("profile", f"--sample={text}", "--", "true")
    assert done.status == ExitCode.BAD_INPUT
    assert "Traceback" not in done.err
